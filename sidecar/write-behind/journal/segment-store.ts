import { type Disk, type DiskFile, readAt } from './disk.ts';
import type { JournalEntry, PendingEntry } from './entries.ts';
import { BLOCK_BYTES } from './frame.ts';
import { type KeyFile, writeKeyFile } from './key-record.ts';
import { readEntry } from './records.ts';
import { prepareSegment, type Segment } from './segment.ts';

/** Neighbouring entries are read together, up to so many bytes, and over what lies between them. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const MAX_HOLE_BYTES = 64 * 1024;

export interface StoreOptions {
  readonly disk: Disk;
  readonly folder: string;
  readonly segmentBytes: number;
}

/** The files of a journal: those with entries, one made ahead, and the keys of those that are gone. */
export class SegmentStore {
  readonly #options: StoreOptions;
  readonly #segments = new Map<number, Segment>();
  readonly #readers = new Map<number, Promise<DiskFile>>();
  #keyFiles: readonly KeyFile[];
  #lastNumber: number;
  #newest: Segment | null = null;
  #prepared: Promise<Segment | null> | null = null;
  #preparedBytes = 0;

  /** `lastNumber`: no file in the folder has a higher one. */
  constructor(options: StoreOptions, found: readonly Segment[], keyFiles: readonly KeyFile[], lastNumber: number) {
    this.#options = options;
    for (const segment of found) this.#segments.set(segment.number, segment);
    this.#newest = found.at(-1) ?? null;
    this.#keyFiles = keyFiles;
    this.#lastNumber = lastNumber;
  }

  /** The one that is written to, or was last. */
  get newest(): Segment | null {
    return this.#newest;
  }

  /** In the order of their numbers. */
  get segments(): readonly Segment[] {
    return [...this.#segments.values()];
  }

  /** No file has a higher number. */
  get lastNumber(): number {
    return this.#lastNumber;
  }

  get bytesOnDisk(): number {
    let bytes = this.#preparedBytes;
    for (const segment of this.#segments.values()) bytes += segment.bytes;
    for (const file of this.#keyFiles) bytes += file.bytes;
    return bytes;
  }

  /** A file of zeros with room for so many bytes; the one made ahead where it is large enough. */
  async next(bytes: number): Promise<Segment> {
    const ahead = await this.#prepared;
    this.#prepared = null;
    this.#preparedBytes = 0;
    if (ahead !== null && ahead.bytes >= bytes) return ahead;
    if (ahead !== null) await this.giveUp(ahead);
    return this.#prepare(Math.max(this.#options.segmentBytes, Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES));
  }

  /** From now on it is the newest, and its header has sealed the one before it. */
  activate(segment: Segment): void {
    const before = this.#newest;
    this.#newest = segment;
    this.#segments.set(segment.number, segment);
    if (before !== null) {
      before.isSealed = true;
      void before.closeFile();
    }
    this.#preparedBytes = this.#options.segmentBytes;
    this.#prepared = this.#prepare(this.#options.segmentBytes).catch(() => {
      // Whoever needs it tries again, and says what is wrong.
      this.#preparedBytes = 0;
      return null;
    });
  }

  /** Nothing acknowledged is in it. Where the disk keeps it none the less, no later segment names it. */
  async giveUp(segment: Segment): Promise<void> {
    await segment.closeFile();
    await this.#options.disk.remove(segment.path).catch(() => {});
  }

  /** True where a whole segment is settled by it. */
  settle(entries: readonly PendingEntry[]): boolean {
    let isWhole = false;
    for (const entry of entries) {
      const segment = this.#segments.get(entry.segment);
      if (segment === undefined) continue;
      segment.unsettled -= 1;
      isWhole ||= segment.isSealed && segment.unsettled === 0;
    }
    return isWhole;
  }

  /**
   * Gives back the space of what is settled. `saveState` makes durable that these files do not belong to the journal any
   * more: a file that is missing without that is a loss.
   */
  async tidy(now: number, saveState: () => Promise<void>): Promise<void> {
    const going = this.segments.filter((segment) => segment.isSealed && segment.unsettled === 0);
    for (const segment of going) await this.#keepKeys(segment, now);
    for (const segment of going) segment.isGoing = true;
    await saveState();
    for (const segment of going) await this.#remove(segment);
    await this.#removeKeyFiles(now);
  }

  async read(entries: readonly PendingEntry[], idOf: (position: number) => string): Promise<JournalEntry[]> {
    const read: JournalEntry[] = [];
    for (let from = 0; from < entries.length; ) {
      const to = endOfRun(entries, from);
      const first = entries[from] as PendingEntry;
      const last = entries[to - 1] as PendingEntry;
      const bytes = await this.#readRange(first.segment, first.offset, last.offset + last.length);
      for (const place of entries.slice(from, to)) {
        const entry = readEntry(bytes, place.offset - first.offset);
        if (entry === null || entry.position !== place.position) throw this.#unreadable(place.segment);
        read.push({ ...entry, id: idOf(entry.position) });
      }
      from = to;
    }
    return read;
  }

  async close(): Promise<void> {
    const ahead = await this.#prepared;
    this.#prepared = null;
    if (ahead !== null) await this.giveUp(ahead);
    await this.#newest?.closeFile();
    for (const reader of this.#readers.values()) await closeReader(reader);
    this.#readers.clear();
  }

  #prepare(bytes: number): Promise<Segment> {
    this.#lastNumber += 1;
    return prepareSegment(this.#options.disk, this.#options.folder, this.#lastNumber, bytes);
  }

  async #readRange(number: number, from: number, to: number): Promise<Buffer> {
    let reader = this.#readers.get(number);
    if (reader === undefined) {
      const segment = this.#segments.get(number);
      if (segment === undefined) throw this.#unreadable(number);
      reader = this.#options.disk.open(segment.path, 'read');
      reader.catch(() => this.#readers.delete(number));
      this.#readers.set(number, reader);
    }
    return await readAt(await reader, from, to - from);
  }

  #unreadable(number: number): Error {
    return new Error(`segment ${number} of the journal ${this.#options.folder} does not give back what was written`);
  }

  async #keepKeys(segment: Segment, now: number): Promise<void> {
    if (segment.keys.expiresAt <= now) return;
    const { disk, folder } = this.#options;
    const records = segment.keys.bytes(now);
    const path = await writeKeyFile(disk, folder, segment.number, records);
    const others = this.#keyFiles.filter((file) => file.path !== path);
    this.#keyFiles = [...others, { path, bytes: records.length, expiresAt: segment.keys.expiresAt }];
  }

  /** A file that lost something is kept for whoever wants to look into it. */
  async #remove(segment: Segment): Promise<void> {
    const { disk } = this.#options;
    const reader = this.#readers.get(segment.number);
    this.#readers.delete(segment.number);
    if (reader !== undefined) await closeReader(reader);
    if (segment.lostBytes > 0) await disk.rename(segment.path, `${segment.path}.damaged`);
    else await disk.remove(segment.path);
    this.#segments.delete(segment.number);
  }

  async #removeKeyFiles(now: number): Promise<void> {
    const expired = this.#keyFiles.filter((file) => file.expiresAt <= now);
    for (const { path } of expired) {
      await this.#options.disk.remove(path);
      this.#keyFiles = this.#keyFiles.filter((file) => file.path !== path);
    }
  }
}

async function closeReader(reader: Promise<DiskFile>): Promise<void> {
  await reader.then((file) => file.close()).catch(() => {});
}

/** Index behind the last entry that is read together with the one at `from`. */
function endOfRun(entries: readonly PendingEntry[], from: number): number {
  const first = entries[from] as PendingEntry;
  let end = first.offset + first.length;
  let to = from + 1;
  for (; to < entries.length; to += 1) {
    const { segment, offset, length } = entries[to] as PendingEntry;
    if (segment !== first.segment || offset < end || offset - end > MAX_HOLE_BYTES) break;
    if (offset + length - first.offset > MAX_READ_BYTES) break;
    end = offset + length;
  }
  return to;
}
