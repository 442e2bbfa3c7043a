import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MoveRefused } from '../moving/report.ts';
import { NODE_DISK } from '../write-behind/journal/disk.ts';
import type { JournalEntry, PendingEntry } from '../write-behind/journal/entries.ts';
import { KeyMemory } from '../write-behind/journal/key-memory.ts';
import { readHeaders, readJournal } from '../write-behind/journal/read-journal.ts';
import { readEntries } from '../write-behind/journal/read-segment.ts';
import { findJournalId, readState } from '../write-behind/journal/state-file.ts';

/** Writes of a journal that it did not know to be settled. */
export interface WaitingWrites {
  /** Writes of each namespace. */
  readonly counts: ReadonlyMap<string, number>;
  /** Places in which the journal is damaged. */
  readonly damages: number;
}

const MAX_ATTEMPTS = 50;
const PAUSE_MS = 50;
/** Entries that are in memory at once, each at most as long as a request. */
const BATCH = 100;

/**
 * Writes what waits in a journal into a file, a line of JSON each, in the order of positions. A sidecar may be writing to
 * the journal, which is not changed. All that was acknowledged before the call is in the file or was settled, so read the
 * journal before the database: its queue's place then tells which of them the rows have.
 */
export async function copyWaiting(folder: string, file: string): Promise<WaitingWrites> {
  const journal = await findJournalId(folder);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const copied = await copyOnce(journal === null ? null : folder, `${journal}`, file).catch(goneMeanwhile);
    if (copied !== null) return copied;
    await sleep(PAUSE_MS);
  }
  throw new MoveRefused(
    `the journal ${folder} changes faster than it can be read; run the backup again when less is written`,
  );
}

export async function* readWaiting(file: string): AsyncGenerator<JournalEntry> {
  let rest = '';
  // Not Node's readline: for it a line ends at U+2028 and U+2029 too, which stand in JSON texts as they are.
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as JournalEntry;
  }
}

/** Null if the sidecar has begun or removed a file meanwhile: the copy may then lack half of it. */
async function copyOnce(folder: string | null, journal: string, file: string): Promise<WaitingWrites | null> {
  const out = await open(file, 'w', 0o600);
  try {
    if (folder === null) return { counts: new Map(), damages: 0 };
    const before = await shapeOf(folder);
    const { segments, pending, damages } = await contentOf(folder);
    const source = { disk: NODE_DISK, folder, segments };
    try {
      for (let i = 0; i < pending.length; i += BATCH) {
        const entries = await readEntries(source, pending.slice(i, i + BATCH), (position) => `${journal}-${position}`);
        await out.appendFile(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      }
    } finally {
      for (const segment of segments.values()) await segment.closeReader();
    }
    if (before !== (await shapeOf(folder))) return null;
    return { counts: countsOf(pending), damages };
  } finally {
    await out.sync();
    await out.close();
  }
}

async function contentOf(folder: string) {
  const state = await readState(NODE_DISK, folder);
  if (state === 'newer') throw new MoveRefused(`the journal ${folder} was written by a newer version of this program`);
  const headers = await readHeaders(NODE_DISK, folder);
  const known = typeof state === 'object' ? state : null;
  const source = { disk: NODE_DISK, folder, headers, state: known, now: Date.now() };
  const { segments, pending, findings } = await readJournal(source, new KeyMemory());
  const damages = findings.filter(({ kind }) => kind === 'lost').length;
  return { segments: new Map(segments.map((segment) => [segment.number, segment])), pending, damages };
}

/** Its files, and what it says of them. */
async function shapeOf(folder: string): Promise<string> {
  const state = await readState(NODE_DISK, folder);
  return JSON.stringify([(await NODE_DISK.list(folder)).toSorted(), state]);
}

function countsOf(pending: readonly PendingEntry[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { namespace } of pending) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  return counts;
}

function goneMeanwhile(error: unknown): null {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
  throw error;
}
