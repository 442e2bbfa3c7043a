import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import { type Disk, NODE_DISK, readAt, readWhole, writeWhole } from './disk.ts';
import type { NamespaceState, SettledMark } from './entries.ts';
import { BLOCK_BYTES, FORMAT } from './frame.ts';
import { readHeader, segmentNumber } from './segment.ts';

export const STATE_NAME = 'state.json';

/** State of the journal besides its segments. */
export interface JournalState {
  readonly journal: string;
  /** The sidecar stopped in order: the segments are complete. */
  readonly isClean: boolean;
  /** The last position assigned before the save. */
  readonly lastPosition: number;
  /** Segments below this number exist only if `ends` names them; from it on they name each other. */
  readonly next: number;
  /** Number of a segment, and the end of its acknowledged groups. */
  readonly ends: readonly (readonly [number, number])[];
  /** The segment that was written to, 0 for none. */
  readonly newest: number;
  /** Number of a segment, and the lost bytes in it that were logged already. */
  readonly damaged: readonly (readonly [number, number])[];
  /** The settled mark of each namespace. */
  readonly settled: Readonly<Record<string, SettledMark>>;
  readonly namespaces: readonly NamespaceState[];
}

interface KeptNamespace extends Omit<NamespaceState, 'stored'> {
  readonly stored: (Omit<StoredSchema, 'schema'> & { readonly schema: string }) | null;
}

interface KeptState extends Omit<JournalState, 'namespaces'> {
  readonly namespaces: readonly KeptNamespace[];
}

/** `none`: no such file. `newer`: written by a newer program. */
export async function readState(disk: Disk, folder: string): Promise<JournalState | 'none' | 'damaged' | 'newer'> {
  if (!(await disk.list(folder)).includes(STATE_NAME)) return 'none';
  const text = (await readWhole(disk, join(folder, STATE_NAME))).toString('utf8');
  let file: { format?: unknown; checksum?: unknown; state?: KeptState };
  try {
    file = JSON.parse(text);
  } catch {
    return 'damaged';
  }
  if (typeof file !== 'object' || file === null) return 'damaged';
  if (typeof file.format === 'number' && file.format > FORMAT) return 'newer';
  if (file.state === undefined || file.checksum !== crc32(JSON.stringify(file.state))) return 'damaged';
  return { ...file.state, namespaces: file.state.namespaces.map(namespaceOf) };
}

export async function writeState(disk: Disk, folder: string, state: JournalState): Promise<void> {
  const kept: KeptState = { ...state, namespaces: state.namespaces.map(keptOf) };
  const text = JSON.stringify(kept);
  const file = `{"format":${FORMAT},"checksum":${crc32(text)},"state":${text}}\n`;
  await writeWhole(disk, join(folder, STATE_NAME), Buffer.from(file));
}

function keptOf(namespace: NamespaceState): KeptNamespace {
  const { stored } = namespace;
  return { ...namespace, stored: stored && { ...stored, schema: textOfSchema(stored.schema) } };
}

function namespaceOf(kept: KeptNamespace): NamespaceState {
  const { stored } = kept;
  return { ...kept, stored: stored && { ...stored, schema: schemaOfText(stored.schema) } };
}

/** Runs one save at a time; calls during a save share the next save, which stores the state of that time. */
export class StateSaver {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #collect: () => JournalState;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #isClosed = false;

  constructor(disk: Disk, folder: string, collect: () => JournalState) {
    this.#disk = disk;
    this.#folder = folder;
    this.#collect = collect;
  }

  /** The state at the call is durable when this resolves. */
  save(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#next ??= this.#enqueue();
    return this.#next;
  }

  /** Saves the last state; no save follows. */
  async close(state: JournalState): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await writeState(this.#disk, this.#folder, state);
  }

  #enqueue(): Promise<void> {
    const saved = this.#running.then(() => {
      this.#next = null;
      return writeState(this.#disk, this.#folder, this.#collect());
    });
    this.#running = saved.catch(() => {});
    return saved;
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_LENGTH = 10;

/** 50 random bits: two journals that meet in one database have different ids. */
function newJournalId(): string {
  return Array.from(randomBytes(ID_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** The id of the journal in the folder; null if there is none. Writes nothing and needs no lock. */
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

/** The id of the journal in the folder; makes an empty journal if there is none. */
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
