import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { callApi } from '../call-api.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { NAMESPACE } from '../payloads.ts';
import { makeFolder } from '../prepare.ts';
import { memoryOf, start } from '../processes.ts';
import { costTarget, count, type Target } from '../target.ts';
import { type CommandCost, timedCommand } from './timed-command.ts';

/** BENCH_CSV_ROWS makes a trial short. */
const ROWS = Number(process.env.BENCH_CSV_ROWS ?? '1000000');
const ROWS_PER_PIECE = 1000;
const MOST_MEGABYTES = 100;
const TABLE = 'spreadsheet';
/** As an owner has it: sources take more memory than the build. */
const PROGRAM = 'dist/sidecar/main.js';

export interface RowFigures {
  readonly into: CommandCost;
  readonly out: CommandCost;
  /** A sidecar without calls. */
  readonly idleMegabytes: number;
  readonly fileMegabytes: number;
}

/** A CSV into an empty table, and out of it again: the same bytes. */
export async function measureRows(): Promise<RowFigures> {
  const { folder, secret } = makeFolder({ provider: 'sqlite', file: 'data/database.sqlite' });
  try {
    const idleMegabytes = await withSidecar(folder, async (port, pid) => {
      await declareTable(port, secret);
      return memoryOf(pid)?.rssMegabytes ?? 0;
    });
    const [given, made] = [join(folder, 'given.csv'), join(folder, 'made.csv')];
    await pipeline(Readable.from(pieces()), createWriteStream(given));
    const rows = (action: string, file: string) => {
      const words = [PROGRAM, 'rows', action, '--namespace', NAMESPACE, '--table', TABLE, '--format', 'csv'];
      const args = [...words, '--file', file, '--config', join(folder, 'sidecar.json')];
      return timedCommand(start(args, join(folder, `${action}.log`)));
    };
    const into = await rows('import', given);
    const out = await rows('export', made);
    const [before, after] = [await contentOf(given), await contentOf(made)];
    if (before.sha256 !== after.sha256) throw new Error('the exported CSV is not the imported one');
    return { into, out, idleMegabytes, fileMegabytes: before.bytes / 1e6 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function declareTable(port: number, secret: string): Promise<void> {
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'name', type: 'string', length: 60 },
    { name: 'money', type: 'decimal', precision: 20, scale: 4 },
    { name: 'seen', type: 'datetime' },
    { name: 'note', type: 'text', nullable: true },
  ];
  const schema = { tables: [{ name: TABLE, primaryKey: ['id'], columns }] };
  await callApi(port, secret, '/v1/schema/sync', { namespace: NAMESPACE, schema });
}

/** As `rows export` writes them: fields in quotes only if they need them, NULL empty, the empty text in quotes. */
function* pieces(): Generator<string> {
  yield 'id,name,money,seen,note\r\n';
  for (let first = 1; first <= ROWS; first += ROWS_PER_PIECE) {
    const ids = Array.from({ length: Math.min(ROWS_PER_PIECE, ROWS - first + 1) }, (_, index) => first + index);
    yield ids.map(lineOf).join('');
  }
}

const NOTES = ['', '""', '"with a comma, and ""quotes"""', '"of two\r\nlines"', 'a text without anything odd in it'];

function lineOf(id: number): string {
  const seen = new Date(1_700_000_000_000 + id * 1000).toISOString();
  return `${id},player ${id},${id}.${String(id % 1000).padStart(3, '0')}7,${seen},${NOTES[id % NOTES.length]}\r\n`;
}

async function contentOf(file: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const part of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(part);
    bytes += part.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}

export function rowTargets({ into, out, idleMegabytes }: RowFigures): Target[] {
  const target = (way: string, { megabytes, seconds }: CommandCost): Target => {
    const more = megabytes - idleMegabytes;
    const detail = `${megabytes.toFixed(0)} of ${idleMegabytes.toFixed(0)} MB, ${seconds.toFixed(0)} s`;
    return costTarget(`megabytes of memory over idle, CSV of ${count(ROWS)} rows ${way}`, more, MOST_MEGABYTES, detail);
  };
  return [target('in', into), target('out', out)];
}

export function rowSection({ into, out, idleMegabytes, fileMegabytes }: RowFigures): string {
  return `
## Rows in and out

A CSV of ${count(ROWS)} rows (${fileMegabytes.toFixed(0)} MB; numbers, decimals, times, texts with commas, quotes and line breaks) into an SQLite table in
${into.seconds.toFixed(0)} s, and out of it in ${out.seconds.toFixed(0)} s, the same bytes. The command takes ${into.megabytes.toFixed(0)} MB and ${out.megabytes.toFixed(0)} MB of
memory at most; a sidecar without calls has ${idleMegabytes.toFixed(0)} MB.
`;
}
