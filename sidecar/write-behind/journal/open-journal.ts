import { join } from 'node:path';
import type { EngineLog } from '#engine/log.ts';
import { isFullDisk, isFullFile } from '../../full-disk.ts';
import { type Disk, type FolderLock, readAt, writeAll } from './disk.ts';
import type { NamespaceState } from './entries.ts';
import { BLOCK_BYTES } from './frame.ts';
import { KeyMemory } from './key-memory.ts';
import type { KeyFile } from './key-record.ts';
import { chainOf, type JournalContent, readHeaders, readJournal, readKeyFiles, reportFinding } from './read-journal.ts';
import { type HeaderFound, segmentName } from './segment.ts';
import { type JournalState, newState, readState, STATE_NAME, writeState } from './state-file.ts';

export interface OpenOptions {
  readonly folder: string;
  readonly disk: Disk;
  readonly clock: { now(): number };
  readonly log: EngineLog;
}

export interface OpenContent extends JournalContent {
  readonly journal: string;
  readonly namespaces: readonly NamespaceState[];
  readonly keys: KeyMemory;
  readonly keyFiles: readonly KeyFile[];
  readonly lastNumber: number;
  /** Makes durable the groups that were read: the last one may have been written and not flushed when the process died. */
  readonly harden: () => Promise<void>;
}

/**
 * After an unclean stop the disk may have lost the newest groups without a trace. Their positions, which the database
 * may have seen, are not assigned again.
 */
const POSITIONS_LEFT_OUT = 2 ** 20;

/** @throws Error if the folder cannot be used, or another process uses it */
export async function lockJournal({ folder, disk }: OpenOptions): Promise<FolderLock> {
  let lock: FolderLock | null;
  try {
    await disk.makeFolder(folder);
    lock = await disk.lock(folder);
  } catch (error) {
    throw new Error(`the journal ${folder} cannot be used: ${lockFault(error)}`);
  }
  if (lock === null)
    throw new Error(`a sidecar already runs with this configuration; stop it first (it uses the journal ${folder})`);
  return lock;
}

/** Reason of a fault of the system, or of SQLite, which holds the lock. */
function lockFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (isFullDisk(error) || isFullFile(error)) return 'its disk is full: make room there, then start again';
  return `${code}`.startsWith('SQLITE_READONLY') ? 'this user may not write there' : message;
}

/** @throws Error with one line for the owner */
export async function openContent(options: OpenOptions): Promise<OpenContent> {
  try {
    return await readContent(options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    throw new Error(`the journal ${options.folder} cannot be used, all of it must be the sidecar's own: ${message}`);
  }
}

async function readContent(options: OpenOptions): Promise<OpenContent> {
  const { folder, disk, log } = options;
  const headers = await readHeaders(disk, folder);
  const found = await stateOf(options, headers);
  const journal = found?.journal ?? [...headers.values()].find((header) => typeof header === 'object')?.journal ?? '';
  refuseForeign(folder, headers, journal);
  if (found === null) await tellNoState(options);
  for (const [number, header] of headers) {
    if (header === 'damaged')
      log('warn', `the head of ${segmentName(number)} cannot be read; its groups can`, { folder });
  }
  const keys = new KeyMemory();
  const source = { disk, folder, headers, state: found, now: options.clock.now() };
  const content = await readJournal(source, keys);
  for (const finding of content.findings) reportFinding(log, folder, finding);
  const keyFiles = await readKeyFiles(source, keys, log);
  await removeUnnamed(disk, folder, headers, found);
  const isClean = found?.isClean === true && content.findings.length === 0;
  return {
    ...content,
    journal,
    namespaces: found?.namespaces ?? [],
    keys,
    keyFiles,
    lastNumber: Math.max(
      0,
      ...headers.keys(),
      ...(found?.ends ?? []).map(([number]) => number),
      (found?.next ?? 1) - 1,
    ),
    lastPosition: content.lastPosition + (isClean ? 0 : POSITIONS_LEFT_OUT),
    harden: () => (isClean ? Promise.resolve() : harden(disk, folder, headers, content)),
  };
}

/** Null if the state cannot be read although there are segments. */
async function stateOf(
  { folder, disk }: OpenOptions,
  headers: ReadonlyMap<number, HeaderFound>,
): Promise<JournalState | null> {
  const state = await readState(disk, folder);
  if (state === 'newer') throw new Error(`the journal ${folder} was written by a newer version of this program`);
  if (typeof state === 'object') return state;
  const isNew = state === 'none' && [...headers.values()].every((header) => header === 'empty');
  if (isNew) return makeNew(disk, folder);
  return null;
}

/** Keeps a damaged state file for inspection; the next save writes a new one. */
async function tellNoState({ folder, disk, log }: OpenOptions): Promise<void> {
  const path = join(folder, STATE_NAME);
  const isThere = (await disk.list(folder)).includes(STATE_NAME);
  if (isThere) await disk.rename(path, `${path}.damaged`);
  log(
    'error',
    `${STATE_NAME} of the journal is ${isThere ? 'damaged' : 'missing'}: it goes on with what its other files and the ` +
      'database say; one of those that is missing as a whole would not be noticed',
    { folder },
  );
}

async function makeNew(disk: Disk, folder: string): Promise<JournalState> {
  const state = newState();
  try {
    await writeState(disk, folder, state);
  } catch (error) {
    throw new Error(`the journal ${folder} cannot be written: ${(error as Error).message}`);
  }
  return state;
}

function refuseForeign(folder: string, headers: ReadonlyMap<number, HeaderFound>, journal: string): void {
  if (journal === '') {
    const names = headers.size > 0 ? [...headers.keys()].map(segmentName).join(', ') : STATE_NAME;
    throw new Error(`the journal ${folder} holds files that are not of this program: ${names}`);
  }
  for (const [number, header] of headers) {
    if (header === 'newer') throw new Error(`the journal ${folder} was written by a newer version of this program`);
    if (typeof header === 'object' && header.journal !== journal) {
      throw new Error(`${segmentName(number)} in ${folder} belongs to another journal`);
    }
  }
}

/** Removes files that were made ahead, or given up before anything in them was acknowledged. */
async function removeUnnamed(
  disk: Disk,
  folder: string,
  headers: ReadonlyMap<number, HeaderFound>,
  state: JournalState | null,
): Promise<void> {
  const named = new Set(chainOf(headers, state).map((link) => link.number));
  const unnamed = [...headers].filter(
    ([number, header]) => !named.has(number) && (state !== null || header === 'empty'),
  );
  const names = unnamed.map(([number]) => segmentName(number));
  const temporary = (await disk.list(folder)).filter((name) => name.endsWith('.tmp'));
  for (const name of [...names, ...temporary]) await disk.remove(join(folder, name)).catch(() => {});
}

/**
 * Only the last group may be undurable: each group was written after the flush of the group before it. Its bytes are
 * written again, as a disk whose flush failed may return bytes that it has not kept.
 */
async function harden(
  disk: Disk,
  folder: string,
  headers: ReadonlyMap<number, HeaderFound>,
  { segments, lastFrame }: JournalContent,
): Promise<void> {
  const newest = segments.at(-1);
  if (newest === undefined) return;
  const file = await disk.open(join(folder, segmentName(newest.number)), 'write');
  try {
    const isHeaded = typeof headers.get(newest.number) === 'object';
    if (isHeaded) await writeAll(file, await readAt(file, 0, BLOCK_BYTES), 0);
    if (lastFrame !== null) await writeAll(file, await readAt(file, lastFrame.at, lastFrame.length), lastFrame.at);
    await file.flush();
  } finally {
    await file.close();
  }
}
