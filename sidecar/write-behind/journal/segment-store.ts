import type { EngineLog } from '#engine/log.ts';
import type { Clock } from './clock.ts';
import { type Disk, reasonOf } from './disk.ts';
import type { JournalEntry, PendingEntry } from './entries.ts';
import { BLOCK_BYTES } from './frame.ts';
import { type KeyFile, writeKeyFile } from './key-record.ts';
import { checkSegment, readEntries } from './read-segment.ts';
import { prepareSegment, type Segment } from './segment.ts';

/** A full disk may get room only by removing settled segments, so a failed attempt is repeated. */
const TIDY_AGAIN_MS = 30_000;

export interface StoreOptions {
  readonly disk: Disk;
  readonly folder: string;
  readonly segmentBytes: number;
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Makes durable which files belong to the journal. */
  readonly saveState: () => Promise<void>;
}

/** The files of a journal: segments with entries, a segment made ahead, and the keys of removed segments. */
export class SegmentStore {
  readonly #options: StoreOptions;
  readonly #segments = new Map<number, Segment>();
  #keyFiles: readonly KeyFile[];
  #lastNumber: number;
  #newest: Segment | null = null;
  #prepared: Promise<Segment | null> | null = null;
  #preparedBytes = 0;
  #tidying: Promise<void> | null = null;
  #isTidyWanted = false;
  #cancelTidy: () => void = () => {};
  /** Logged reason of the failure; null if the last attempt succeeded. */
  #toldTidy: string | null = null;
  #isStopped = false;

  /** `lastNumber`: no file in the folder has a higher one. */
  constructor(options: StoreOptions, found: readonly Segment[], keyFiles: readonly KeyFile[], lastNumber: number) {
    this.#options = options;
    for (const segment of found) this.#segments.set(segment.number, segment);
    this.#newest = found.at(-1) ?? null;
    this.#keyFiles = keyFiles;
    this.#lastNumber = lastNumber;
  }

  /** The segment that is written to, or was last. */
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

  /** A file of zeros with room for so many bytes: the segment made ahead if it is large enough. */
  async next(bytes: number): Promise<Segment> {
    const ahead = await this.#prepared;
    this.#prepared = null;
    this.#preparedBytes = 0;
    if (ahead !== null && ahead.bytes >= bytes) return ahead;
    if (ahead !== null) await this.giveUp(ahead);
    return this.#prepare(Math.max(this.#options.segmentBytes, Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES));
  }

  /** Makes the segment the newest; its header has sealed the segment before it. */
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
      // The next user retries and reports the error.
      this.#preparedBytes = 0;
      return null;
    });
    this.#tidySoon();
  }

  /** The segment holds nothing acknowledged. If the disk keeps the file, no later segment names it. */
  async giveUp(segment: Segment): Promise<void> {
    await segment.closeFile();
    await this.#options.disk.remove(segment.path).catch(() => {});
  }

  settle(entries: readonly PendingEntry[]): void {
    let isWhole = false;
    for (const entry of entries) {
      const segment = this.#segments.get(entry.segment);
      if (segment === undefined) continue;
      segment.unsettled -= 1;
      isWhole ||= segment.isSealed && segment.unsettled === 0;
    }
    if (isWhole) this.#tidySoon();
  }

  /** Checks whether the acknowledged groups of a segment whose flush failed can still be read. Never throws. */
  check(segment: Segment): Promise<void> {
    return checkSegment(this.#options.disk, segment, this.#options.log);
  }

  read(entries: readonly PendingEntry[], idOf: (position: number) => string): Promise<JournalEntry[]> {
    return readEntries({ ...this.#options, segments: this.#segments }, entries, idOf);
  }

  /** No file is removed after this. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelTidy();
  }

  async close(): Promise<void> {
    await this.#tidying;
    const ahead = await this.#prepared;
    this.#prepared = null;
    if (ahead !== null) await this.giveUp(ahead);
    await this.#newest?.closeFile();
    for (const segment of this.#segments.values()) await segment.closeReader();
  }

  /** Removes settled segments in the background, one run at a time. */
  #tidySoon(): void {
    this.#isTidyWanted = true;
    this.#tidying ??= this.#tidyWhileWanted();
  }

  async #tidyWhileWanted(): Promise<void> {
    const { folder, clock, log } = this.#options;
    await null;
    while (this.#isTidyWanted && !this.#isStopped) {
      this.#isTidyWanted = false;
      this.#cancelTidy();
      try {
        await this.#tidy(clock.now());
        this.#toldTidy = null;
      } catch (error) {
        const reason = reasonOf(error);
        if (reason !== this.#toldTidy) log('warn', `the journal could not give back space: ${reason}`, { folder });
        this.#toldTidy = reason;
        if (!this.#isStopped) this.#cancelTidy = clock.setTimeout(() => this.#tidySoon(), TIDY_AGAIN_MS);
      }
    }
    this.#tidying = null;
  }

  /** A file that is missing while the durable state names it is a loss, so the state is saved first. */
  async #tidy(now: number): Promise<void> {
    const going = this.segments.filter((segment) => segment.isSealed && segment.unsettled === 0);
    for (const segment of going) await this.#keepKeys(segment, now);
    for (const segment of going) segment.isGoing = true;
    await this.#options.saveState();
    for (const segment of going) await this.#remove(segment);
    await this.#removeKeyFiles(now);
  }

  #prepare(bytes: number): Promise<Segment> {
    this.#lastNumber += 1;
    return prepareSegment(this.#options.disk, this.#options.folder, this.#lastNumber, bytes);
  }

  async #keepKeys(segment: Segment, now: number): Promise<void> {
    if (segment.keys.expiresAt <= now) return;
    const { disk, folder } = this.#options;
    const records = segment.keys.bytes(now);
    const path = await writeKeyFile(disk, folder, segment.number, records);
    const others = this.#keyFiles.filter((file) => file.path !== path);
    this.#keyFiles = [...others, { path, bytes: records.length, expiresAt: segment.keys.expiresAt }];
  }

  /** Keeps a file that lost acknowledged groups for inspection. */
  async #remove(segment: Segment): Promise<void> {
    const { disk } = this.#options;
    await segment.closeReader();
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
