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

/** What the journal knows besides its segments. */
export interface JournalState {
  readonly journal: string;
  /** The sidecar stopped in order: what the segments say is all there was. */
  readonly isClean: boolean;
  /** The last position given by then. */
  readonly lastPosition: number;
  /** Segments below this number are there only if `ends` names them; from it on they name each other. */
  readonly next: number;
  /** Number of a segment, and where its acknowledged groups end. */
  readonly ends: readonly (readonly [number, number])[];
  /** The segment that was written to, 0 for none. */
  readonly newest: number;
  /** Number of a segment, and how many bytes are known to be lost in it: its owner was told. */
  readonly damaged: readonly (readonly [number, number])[];
  /** Of each namespace, up to where all is settled. */
  readonly settled: Readonly<Record<string, SettledMark>>;
  readonly namespaces: readonly NamespaceState[];
}

interface KeptNamespace extends Omit<NamespaceState, 'stored'> {
  readonly stored: (Omit<StoredSchema, 'schema'> & { readonly schema: string }) | null;
}

interface KeptState extends Omit<JournalState, 'namespaces'> {
  readonly namespaces: readonly KeptNamespace[];
}

/** `none`: no such file. `newer`: of a program that came after this one. */
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
  const text = JSON.stringify({ format: FORMAT, checksum: crc32(JSON.stringify(kept)), state: kept });
  await writeWhole(disk, join(folder, STATE_NAME), Buffer.from(`${text}\n`));
}

function keptOf(namespace: NamespaceState): KeptNamespace {
  const { stored } = namespace;
  return { ...namespace, stored: stored && { ...stored, schema: textOfSchema(stored.schema) } };
}

function namespaceOf(kept: KeptNamespace): NamespaceState {
  const { stored } = kept;
  return { ...kept, stored: stored && { ...stored, schema: schemaOfText(stored.schema) } };
}

/** One save at a time; those that are wanted meanwhile share the next one, which takes the state as it is then. */
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

  /** What is so at the call is durable when it resolves. */
  save(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#next ??= this.#enqueue();
    return this.#next;
  }

  /** The last one; none follows it. */
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

/** 50 random bits: two journals that ever meet in one database have different ones. */
function newJournalId(): string {
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
