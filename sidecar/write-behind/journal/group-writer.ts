import type { EngineLog } from '#engine/log.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';
import { type Clock, Pause } from './clock.ts';
import { notAccepted, reasonOf, unknownOutcome, writeAll } from './disk.ts';
import type { KeySlot, NewEntry, PendingEntry, SettledMark } from './entries.ts';
import { BLOCK_BYTES } from './frame.ts';
import { Group } from './group.ts';
import type { KeyMemory } from './key-memory.ts';
import { type Segment, type SegmentHeader, writeHeader } from './segment.ts';
import type { SegmentStore } from './segment-store.ts';

export interface WriterOptions {
  readonly journal: string;
  readonly folder: string;
  readonly store: SegmentStore;
  /** Takes the keys of groups that are durable. */
  readonly keys: KeyMemory;
  readonly clock: Clock;
  readonly log: EngineLog;
  /** The last position assigned before. */
  readonly lastPosition: number;
  /** Makes durable all that acceptance relies on; called again until it succeeds. */
  readonly beforeFirst: () => Promise<void>;
}

/** Pauses between attempts to repair. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

interface WriterFigures {
  flushes: number;
  flushMs: number;
  flushedWrites: number;
  lastFlushMs: number;
  lastGroup: number;
  failures: number;
}

/**
 * Group commit: waiting entries share one write and one flush, and are acknowledged after it. A file whose write or flush
 * failed is never written again: it is unknown which bytes the disk has kept.
 */
export class GroupWriter {
  readonly #options: WriterOptions;
  #lastPosition: number;
  #durablePosition: number;
  #state: 'broken' | 'available' | 'closed' = 'broken';
  #groups: Group[] = [];
  #running: Promise<void> | null = null;
  readonly #repairPause: Pause;
  #repairing: Promise<void> | null = null;
  #marks = new Map<string, SettledMark>();
  #spare: Buffer | null = null;
  #isPrepared = false;
  readonly #figures: WriterFigures = {
    flushes: 0,
    flushMs: 0,
    flushedWrites: 0,
    lastFlushMs: 0,
    lastGroup: 0,
    failures: 0,
  };

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#lastPosition = options.lastPosition;
    this.#durablePosition = options.lastPosition;
    this.#repairPause = new Pause(options.clock);
  }

  get isAvailable(): boolean {
    return this.#state === 'available';
  }

  get #isClosed(): boolean {
    return this.#state === 'closed';
  }

  get lastPosition(): number {
    return this.#lastPosition;
  }

  get figures(): Readonly<WriterFigures> {
    return this.#figures;
  }

  /** Resolves after the first attempt; if the disk refuses, the repair retries by itself. */
  async start(): Promise<void> {
    try {
      await this.#beginSegment();
      this.#state = 'available';
    } catch (error) {
      this.#break('cannot be written', error);
    }
  }

  skipTo(position: number): void {
    this.#lastPosition = Math.max(this.#lastPosition, position);
  }

  append(entry: NewEntry): Promise<PendingEntry> {
    if (this.#state !== 'available') return Promise.reject(notAccepted());
    return new Promise((resolve, reject) => {
      this.#lastPosition += 1;
      this.#openGroup().add(entry, this.#lastPosition, resolve, reject);
    });
  }

  addNote(slot: KeySlot, answer: string): void {
    if (this.#state === 'available') this.#openGroup().addNote(slot, answer);
  }

  /** Goes with the next group. */
  addMark(namespace: string, mark: SettledMark): void {
    this.#marks.set(namespace, mark);
  }

  /** Writes the waiting entries first. */
  async close(): Promise<void> {
    const wasAvailable = this.#state === 'available';
    if (wasAvailable) this.#state = 'closed';
    await this.#running;
    this.#state = 'closed';
    this.#repairPause.wake();
    await this.#repairing;
  }

  /** The group for new records. It is written in a later turn, with all records added by then. */
  #openGroup(): Group {
    let group = this.#groups.at(-1);
    if (group === undefined || group.isFull) {
      group = new Group(this.#spare);
      this.#spare = null;
      this.#groups.push(group);
    }
    this.#running ??= this.#run();
    return group;
  }

  async #run(): Promise<void> {
    await null;
    for (let group = this.#groups.shift(); group !== undefined; group = this.#groups.shift()) await this.#flush(group);
    this.#running = null;
  }

  async #flush(group: Group): Promise<void> {
    const { store, clock } = this.#options;
    const startedMs = clock.monotonicNow();
    group.addMarks(this.#marks);
    this.#marks = new Map();
    let segment: Segment | null = null;
    let isWritten = false;
    try {
      const newest = store.newest as Segment;
      const isRoom = newest.end + group.frameLength <= newest.bytes;
      segment = isRoom ? newest : await store.next(BLOCK_BYTES + group.frameLength);
      const header = isRoom ? null : this.#headerOf(segment, group.firstPosition ?? this.#durablePosition + 1);
      const bytes = group.seal(segment.number, segment.groups + 1, this.#durablePosition, header);
      const file = segment.file as NonNullable<Segment['file']>;
      await writeAll(file, bytes, segment.end);
      isWritten = true;
      await file.flush();
      segment.end += bytes.length;
      if (!isRoom) store.activate(segment);
    } catch (error) {
      this.#fail(group, segment, isWritten, error);
      return;
    }
    this.#keep(group, segment, clock.monotonicNow() - startedMs);
  }

  /** The group is durable. */
  #keep(group: Group, segment: Segment, tookMs: number): void {
    const figures = this.#figures;
    figures.flushes += 1;
    figures.flushMs += tookMs;
    figures.lastFlushMs = tookMs;
    figures.lastGroup = group.count;
    figures.flushedWrites += group.count;
    segment.groups += 1;
    segment.unsettled += group.count;
    const { clock, keys } = this.#options;
    for (const record of group.keys) {
      segment.keys.add(record);
      keys.add(record, 0, clock.now());
    }
    this.#durablePosition = group.lastPosition ?? this.#durablePosition;
    group.resolve(segment.number, segment.end - group.frameLength);
    this.#spare = group.spare;
  }

  #fail(group: Group, segment: Segment | null, isWritten: boolean, error: unknown): void {
    const { store } = this.#options;
    this.#figures.failures += 1;
    for (const [namespace, mark] of group.marks) if (!this.#marks.has(namespace)) this.#marks.set(namespace, mark);
    const waiting = this.#groups;
    this.#groups = [];
    const isClosing = this.#isClosed;
    this.#break(isWritten ? 'could not be flushed' : 'cannot be written', error);
    group.reject(isWritten ? unknownOutcome() : notAccepted());
    for (const later of waiting) later.reject(notAccepted());
    if (segment !== null && segment !== store.newest) void store.giveUp(segment);
    if (isClosing) this.#state = 'closed';
  }

  #break(what: string, error: unknown): void {
    const { folder, log } = this.#options;
    this.#state = 'broken';
    log('error', `the journal ${what}: ${reasonOf(error)}; buffered writes are refused until it can be`, { folder });
    this.#repairing ??= this.#repair(reasonOf(error));
  }

  /** Retries, more and more rarely, until the disk takes writes again. `reason` is in the log already. */
  async #repair(reason: string): Promise<void> {
    const { folder, log } = this.#options;
    let told = reason;
    for (let pauseMs = FIRST_PAUSE_MS; !this.#isClosed; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      await this.#repairPause.wait(pauseMs);
      if (this.#isClosed) break;
      try {
        await this.#replaceSegment();
        log('info', 'the journal can be written again', { event: LOG_EVENT.recovered, folder });
        if (this.#state === 'broken') this.#state = 'available';
        break;
      } catch (error) {
        if (reasonOf(error) !== told) log('error', `the journal cannot be written: ${reasonOf(error)}`, { folder });
        told = reasonOf(error);
      }
    }
    this.#repairing = null;
  }

  /** Checks the acknowledged groups once, before a new segment replaces the broken one. */
  async #replaceSegment(): Promise<void> {
    const { store } = this.#options;
    const { newest } = store;
    if (newest !== null && newest.file !== null) {
      await newest.closeFile();
      await store.check(newest);
    }
    await this.#beginSegment();
  }

  /** Begins a segment, whose header seals the segment before it at the end of its durable groups. */
  async #beginSegment(): Promise<void> {
    const { store, beforeFirst } = this.#options;
    if (!this.#isPrepared) await beforeFirst();
    this.#isPrepared = true;
    const segment = await store.next(BLOCK_BYTES);
    try {
      const block = Buffer.alloc(BLOCK_BYTES);
      writeHeader(block, this.#headerOf(segment, this.#durablePosition + 1));
      const file = segment.file as NonNullable<Segment['file']>;
      await writeAll(file, block, 0);
      await file.flush();
    } catch (error) {
      await store.giveUp(segment);
      throw error;
    }
    segment.end = BLOCK_BYTES;
    store.activate(segment);
  }

  #headerOf(segment: Segment, firstPosition: number): SegmentHeader {
    const { journal, store } = this.#options;
    const { number, bytes: fileBytes } = segment;
    const { newest } = store;
    return { journal, number, previous: newest?.number ?? 0, previousEnd: newest?.end ?? 0, fileBytes, firstPosition };
  }
}
