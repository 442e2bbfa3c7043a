import type { EngineLog } from '#engine/log.ts';
import type { Clock } from './clock.ts';
import { type Disk, type FolderLock, reasonOf } from './disk.ts';
import {
  acknowledgement,
  type JournalEntry,
  type KeySlot,
  type NamespaceState,
  type NewEntry,
  type PendingEntry,
  type SettledMark,
} from './entries.ts';
import { GroupWriter } from './group-writer.ts';
import type { KeyMemory } from './key-memory.ts';
import { keyRecord } from './key-record.ts';
import { lockJournal, type OpenContent, openContent } from './open-journal.ts';
import type { JournalFinding } from './read-journal.ts';
import { SegmentStore } from './segment-store.ts';
import { type JournalState, StateSaver } from './state-file.ts';

export interface JournalOptions {
  readonly folder: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Size of one file of the journal; default 4 MiB. */
  readonly segmentBytes?: number;
}

export interface OpenedJournal {
  readonly journal: Journal;
  /** Entries that are not known to be settled, in the order of positions. The position in the database shows which are. */
  readonly pending: readonly PendingEntry[];
  readonly findings: readonly JournalFinding[];
}

/** A key in the memory of keys. */
export interface RecalledKey {
  /** The same fingerprint: repeat the answer. Otherwise it is a conflict. */
  readonly isSame: boolean;
  /** JSON text of the first answer. */
  readonly answer: string;
}

export interface JournalStats {
  /** False while writes are refused because of the disk. */
  readonly isAvailable: boolean;
  /** Flushes that succeeded, their milliseconds in sum, and how many writes they made durable. */
  readonly flushes: number;
  readonly flushMs: number;
  readonly flushedWrites: number;
  readonly lastFlushMs: number;
  readonly lastGroup: number;
  readonly failures: number;
  readonly bytesOnDisk: number;
  readonly keys: number;
}

const DEFAULT_SEGMENT_BYTES = 4 * 1024 * 1024;

/** The ordered log of acknowledged writes, of all buffered namespaces (contract section 7). */
export class Journal {
  readonly id: string;
  readonly #options: JournalOptions;
  readonly #lock: FolderLock;
  readonly #store: SegmentStore;
  readonly #writer: GroupWriter;
  readonly #state: StateSaver;
  readonly #keys: KeyMemory;
  readonly #settled: Map<string, SettledMark>;
  readonly #namespaces: Map<string, NamespaceState>;
  #isClosed = false;

  /** @throws Error with one line for the owner: another sidecar uses the folder, or it holds what this program cannot read */
  static async open(options: JournalOptions): Promise<OpenedJournal> {
    const lock = await lockJournal(options);
    try {
      const content = await openContent(options);
      const journal = new Journal(options, lock, content);
      await journal.#writer.start();
      return { journal, pending: content.pending, findings: content.findings };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(options: JournalOptions, lock: FolderLock, content: OpenContent) {
    const { folder, disk, clock, log } = options;
    const segmentBytes = options.segmentBytes ?? DEFAULT_SEGMENT_BYTES;
    this.id = content.journal;
    this.#options = options;
    this.#lock = lock;
    this.#keys = content.keys;
    this.#settled = content.settled;
    this.#namespaces = new Map(content.namespaces.map((state) => [state.namespace, state]));
    this.#state = new StateSaver(disk, folder, () => this.#collect(false));
    const saveState = () => this.#state.save();
    this.#store = new SegmentStore(
      { disk, folder, segmentBytes, clock, log, saveState },
      content.segments,
      content.keyFiles,
      content.lastNumber,
    );
    this.#writer = new GroupWriter({
      ...{ journal: this.id, folder, store: this.#store, keys: this.#keys, clock, log },
      lastPosition: content.lastPosition,
      beforeFirst: async () => {
        await content.harden();
        await this.#state.save();
      },
    });
  }

  /** Position of the newest entry, 0 for none. */
  get lastPosition(): number {
    return this.#writer.lastPosition;
  }

  /** Id of the acknowledgement of an entry. */
  idOf(position: number): string {
    return `${this.id}-${position}`;
  }

  /**
   * Resolves when the entry is durable; entries get their positions in the order of the calls.
   * @throws ApiError `write_buffer_unavailable`: it was not accepted, or (the flush failed) the outcome is unknown
   */
  append(entry: NewEntry): Promise<PendingEntry> {
    return this.#writer.append(entry);
  }

  /** In the order of the arguments. @throws Error if the disk does not return them */
  read(entries: readonly PendingEntry[]): Promise<JournalEntry[]> {
    return this.#store.read(entries, (position) => this.idOf(position));
  }

  /** Entries that are applied or dead letters: in the order of positions within a namespace. */
  settle(entries: readonly PendingEntry[]): void {
    for (const { namespace, token, position } of entries) {
      if (position > (this.#settled.get(namespace)?.position ?? 0)) this.#settled.set(namespace, { token, position });
    }
    for (const namespace of new Set(entries.map((entry) => entry.namespace))) {
      this.#writer.addMark(namespace, this.#settled.get(namespace) as SettledMark);
    }
    this.#store.settle(entries);
  }

  /** Positions up to this one are not assigned any more: the database has seen them. */
  skipTo(position: number): void {
    this.#writer.skipTo(position);
  }

  /** Null if the key is not known, or expired by the clock. */
  recall(slot: KeySlot): RecalledKey | null {
    const known = this.#keys.find(slot, this.#options.clock.now());
    if (known === null) return null;
    return { isSame: known.isSame, answer: known.answer ?? acknowledgement(this.idOf(known.position), known.pending) };
  }

  /** Remembers the answer of a write that ran live. Not flushed: a crash may lose it. */
  note(slot: KeySlot, answer: string): void {
    this.#keys.add(keyRecord(slot, { position: 0, pending: 0, answer }), 0, this.#options.clock.now());
    this.#writer.addNote(slot, answer);
  }

  /** Durable when it resolves. */
  async saveNamespace(state: NamespaceState): Promise<void> {
    this.#namespaces.set(state.namespace, state);
    await this.#state.save();
  }

  namespaces(): ReadonlyMap<string, NamespaceState> {
    return this.#namespaces;
  }

  /** The newest entry of the namespace that is known to be settled. */
  settledTo(namespace: string): SettledMark | null {
    return this.#settled.get(namespace) ?? null;
  }

  /** Settlements before the call are known to every later start when this resolves. */
  checkpoint(): Promise<void> {
    return this.#state.save();
  }

  stats(): JournalStats {
    const { isAvailable, figures } = this.#writer;
    return { isAvailable, ...figures, bytesOnDisk: this.#store.bytesOnDisk, keys: this.#keys.size };
  }

  /** Finishes running appends first. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#store.stop();
    await this.#writer.close();
    await this.#store.close();
    const { folder, log } = this.#options;
    try {
      await this.#state.close(this.#collect(true));
    } catch (error) {
      log('warn', `the journal's state could not be written at the end: ${reasonOf(error)}`, { folder });
    }
    this.#lock.release();
  }

  #collect(isClean: boolean): JournalState {
    const { segments, newest, lastNumber } = this.#store;
    // At the end no group follows: bytes behind the last durable group do not count.
    const ends = segments.filter((segment) => !segment.isGoing && (segment.isSealed || isClean));
    const open = isClean || newest === null || newest.isSealed ? null : newest;
    return {
      journal: this.id,
      isClean,
      lastPosition: this.lastPosition,
      next: open?.number ?? lastNumber + 1,
      ends: ends.map(({ number, end }) => [number, end]),
      newest: open?.number ?? 0,
      damaged: ends.filter(({ lostBytes }) => lostBytes > 0).map(({ number, lostBytes }) => [number, lostBytes]),
      settled: Object.fromEntries(this.#settled),
      namespaces: [...this.#namespaces.values()],
    };
  }
}
