import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Disk } from './disk.ts';
import { BLOCK_BYTES } from './frame.ts';
import { NODE_DISK } from './node-disk.ts';
import { readHeader, segmentNumber } from './segment-header.ts';
import { type JournalState, readState, writeState } from './state-file.ts';
import { readAt } from './whole-file.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_LENGTH = 10;

/** 50 random bits: two journals that ever meet in one database have different ones. */
export function newJournalId(): string {
  return Array.from(randomBytes(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** The id of the journal in the folder, null where none is. Writes nothing, and needs no lock. */
export async function findJournalId(folder: string, disk: Disk = NODE_DISK): Promise<string | null> {
  let names: string[];
  try {
    names = await disk.list(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const state = await readState(disk, folder);
  if (state === 'newer') throw new Error(`the journal ${folder} was written by a newer version of this program`);
  if (typeof state === 'object') return state.journal;
  for (const name of names.filter((each) => segmentNumber(each) !== null).sort()) {
    const file = await disk.open(join(folder, name), 'read');
    const header = readHeader(await readAt(file, 0, BLOCK_BYTES).finally(() => file.close()));
    if (typeof header === 'object') return header.journal;
  }
  return null;
}

/** The id of the journal in the folder; an empty journal is made where none is. */
export async function makeJournalId(folder: string, disk: Disk = NODE_DISK): Promise<string> {
  const found = await findJournalId(folder, disk);
  if (found !== null) return found;
  await disk.makeFolder(folder);
  const lock = await disk.lock(folder);
  if (lock === null) throw new Error(`the journal ${folder} is being made by another process`);
  try {
    const state = newState();
    await writeState(disk, folder, state);
    return state.journal;
  } finally {
    lock.release();
  }
}

export function newState(): JournalState {
  return {
    journal: newJournalId(),
    isClean: true,
    lastPosition: 0,
    next: 1,
    ends: [],
    newest: 0,
    damaged: [],
    settled: {},
    namespaces: [],
  };
}
