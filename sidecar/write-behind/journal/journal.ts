import type { EngineLog } from '../../engine/engine.ts';
import type { Clock } from './clock.ts';
import type { Disk } from './disk.ts';
import type { JournalEntry, KeySlot, NamespaceState, NewEntry, PendingEntry } from './entries.ts';

export interface JournalOptions {
  readonly folder: string;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: EngineLog;
  /** Of one file of the journal; default 4 MiB. */
  readonly segmentBytes?: number;
}

/**
 * What a start found wrong; it has its line in the log already. `torn`: the last group was cut off before it was
 * acknowledged, as a power failure does. `lost`: acknowledged writes are gone.
 */
export interface JournalFinding {
  readonly kind: 'torn' | 'lost';
  readonly file: string;
  /** Bytes that could not be read as what they should be. */
  readonly bytes: number;
  /** Positions that are gone, as far as that can be told. */
  readonly firstPosition: number | null;
  readonly lastPosition: number | null;
}

export interface OpenedJournal {
  readonly journal: Journal;
  /** All that is not known to be settled, in the order of positions. The position in the database tells what is. */
  readonly pending: readonly PendingEntry[];
  readonly findings: readonly JournalFinding[];
}

/** How far a namespace is settled, and the token of that entry. */
export interface SettledMark {
  readonly token: number;
  readonly position: number;
}

/** What the memory of keys knows of one. */
export interface RecalledKey {
  /** The same fingerprint: the answer is to be given again. Otherwise it is a conflict. */
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

/** The ordered log of acknowledged writes, of all buffered namespaces (contract section 7). */
export declare class Journal {
  /** @throws Error with one line for the owner: another sidecar uses the folder, or it holds what this program cannot read */
  static open(options: JournalOptions): Promise<OpenedJournal>;

  /** Ten characters that no other journal has. */
  readonly id: string;
  /** Of the newest entry, 0 for none. */
  readonly lastPosition: number;
  /** Id of the acknowledgement of an entry. */
  idOf(position: number): string;
  /** The acknowledgement itself. */
  answerOf(position: number, pending: number): string;

  /**
   * Resolves when the entry is durable; entries get their positions in the order of the calls.
   * @throws ApiError `write_buffer_unavailable`: it was not accepted, or (the flush failed) the outcome is unknown
   */
  append(entry: NewEntry): Promise<PendingEntry>;
  /** In the order asked for. @throws Error where the disk cannot give them back */
  read(entries: readonly PendingEntry[]): Promise<JournalEntry[]>;
  /** Applied, or a dead letter: in the order of positions within a namespace. */
  settle(entries: readonly PendingEntry[]): void;
  /** Positions up to this one are not given any more: the database says that they were. */
  skipTo(position: number): void;

  /** Null where the key is not known, or expired by the clock. */
  recall(slot: KeySlot): RecalledKey | null;
  /** Remembers the answer of a write that ran live. Not awaited: a crash may forget it. */
  note(slot: KeySlot, answer: string): void;

  /** Durable when it resolves. */
  saveNamespace(state: NamespaceState): Promise<void>;
  namespaces(): ReadonlyMap<string, NamespaceState>;

  /** The newest entry of the namespace that is known to be settled. */
  settledTo(namespace: string): SettledMark | null;
  /** All that was settled before is known to every later start when it resolves. */
  checkpoint(): Promise<void>;
  stats(): JournalStats;
  /** Appends under way are finished first. */
  close(): Promise<void>;
}
