import type { ServerResponse } from 'node:http';
import type { ConsoleLog } from '../console/console-log.ts';
import type { Diagnostics } from '../console/diagnostics.ts';
import { readAround, readTail } from '../console/file-window.ts';
import { ArchivePlaces, openLogArchive } from '../console/log-archive.ts';
import { jsonAnswer, sendStream } from '../http/reply.ts';
import {
  type Caller,
  forTokens,
  needs,
  needsAny,
  type PanelRequest,
  type PanelRoute,
  RawAnswer,
  route,
} from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import { diagnosticQuery } from './diagnostic-query.ts';
import { integerOf } from './query-values.ts';

export interface LogsServices {
  readonly logs: { readonly console: ConsoleLog };
  readonly diagnostics: Diagnostics;
}

const RECENT_LINES = 500;
/** Contract: the last 2 MiB of one log file. */
const MAX_FILE_ANSWER_BYTES = 2 ** 21;
const MOST_LINES = 5000;
const DEFAULT_LINES = 1000;
/** So that the line itself is there however long those behind it are. */
const MOST_LINES_AROUND = 1000;

export function logsRoutes({ logs, diagnostics }: LogsServices): PanelRoute[] {
  const { console } = logs;
  return [
    route({
      method: 'GET',
      path: '/api/console',
      access: forTokens(needs('console.read')),
      handle: ({ query }) => linesOf(console, query),
    }),
    route({
      method: 'GET',
      path: '/api/logs',
      access: forTokens(needs('logs.read')),
      handle: () => ({ lines: console.latest(RECENT_LINES) }),
    }),
    ...fileRoutes(console),
    route({
      method: 'GET',
      path: '/api/diagnostics',
      access: forTokens(needsAny('console.read', 'logs.read')),
      handle: async (request) => ({ ...(await diagnostics.read(diagnosticQuery(request))) }),
    }),
  ];
}

function fileRoutes(console: ConsoleLog): PanelRoute[] {
  const archives = new ArchivePlaces();
  return [
    route({
      method: 'GET',
      path: '/api/log-files',
      access: forTokens(needs('logs.read')),
      handle: async () => {
        await console.drain();
        return jsonAnswer((await console.folder.list()).reverse());
      },
    }),
    route({
      method: 'GET',
      path: '/api/log-files-current',
      access: forTokens(needs('logs.read')),
      handle: () => wholeFile(console),
    }),
    route({
      method: 'GET',
      path: '/api/log-files.zip',
      access: forTokens(needs('logs.read')),
      handle: ({ caller }) => archiveOf(console, archives, caller),
    }),
    route({
      method: 'GET',
      path: '/api/log-files/:name',
      access: forTokens(needs('logs.read')),
      handle: (request) => partOfFile(console, request),
    }),
  ];
}

/** The latest lines, those before a number, or those round one: of the memory, and of the files behind it. */
async function linesOf(console: ConsoleLog, query: URLSearchParams) {
  const limit = integerOf(query, 'limit', 1, MOST_LINES) ?? DEFAULT_LINES;
  const around = integerOf(query, 'around', 1);
  if (around === null) {
    return console.page(integerOf(query, 'before', 1) ?? Number.POSITIVE_INFINITY, limit);
  }
  const most = Math.min(limit, MOST_LINES_AROUND);
  const page = await console.page(around + Math.ceil(most / 2), most);
  if (!page.lines.some((line) => line.seq === around)) throw new PanelError('logs.unknown', { field: 'around' });
  return page;
}

/** The file is opened only while the client is still connected. */
function wholeFile(console: ConsoleLog): RawAnswer {
  return new RawAnswer(async (response) => {
    await console.drain();
    const name = console.current;
    if (name === null) throw new PanelError('logs.none');
    // A run that has said nothing yet has no file.
    const file = await console.folder.open(name).catch(() => {
      throw new PanelError('logs.none');
    });
    const { size } = await file.stat();
    setDownload(response, name, TEXT);
    response.setHeader('content-length', size);
    await sendStream(file.createReadStream({ start: 0, end: Math.max(0, size - 1) }), response);
  });
}

/** The end of a file, or the lines around one of its lines. */
async function partOfFile(console: ConsoleLog, { params, query }: PanelRequest): Promise<RawAnswer> {
  const around = integerOf(query, 'around', 1);
  const name = params.name ?? '';
  await console.drain();
  const file = await console.folder.open(name);
  try {
    const text =
      around === null
        ? await readTail(file, MAX_FILE_ANSWER_BYTES)
        : await readAround(file, around, MAX_FILE_ANSWER_BYTES);
    return new RawAnswer((response) => {
      setDownload(response, name, TEXT);
      response.setHeader('content-length', text.length);
      response.end(text);
    });
  } finally {
    await file.close();
  }
}

function archiveOf(console: ConsoleLog, archives: ArchivePlaces, caller: Caller | null): RawAnswer {
  return new RawAnswer((response) =>
    archives.hold(caller?.accountId ?? 0, async () => {
      await console.drain();
      setDownload(response, 'logs.zip', 'application/zip');
      await sendStream(await openLogArchive(console.folder), response);
    }),
  );
}

const TEXT = 'text/plain; charset=utf-8';

/** `name` is one that the panel has given itself. */
function setDownload(response: ServerResponse, name: string, type: string): void {
  response.setHeader('content-type', type);
  response.setHeader('content-disposition', `attachment; filename="${name}"`);
}
