import type { DeadLetter, QueuedEntry, QueueRow } from '../engine/queues.ts';
import type { PendingEntry } from './journal/entries.ts';
import type { QueueWorld } from './queue-world.ts';
import { sortByRow } from './sort-by-row.ts';
import type { Totals } from './totals.ts';

/** Settled entries at the head are cut off when they are that many. */
const MAX_HEAD = 4096;
/** A box that is away for less goes on where it was. */
const STALE_MS = 60_000;

/** An accepted entry that is not settled. */
export interface WaitingEntry extends PendingEntry {
  /** The entry as it was compiled when it was accepted, so that it is neither read back nor parsed again; null if not kept. */
  readonly compiled: QueuedEntry | null;
}

/** An entry that is not to be applied any more: it was applied before, or is an orphan. */
interface OverEntry {
  readonly entry: WaitingEntry;
  readonly isOrphan: boolean;
}

/** The first live entries, applied or made dead letters. */
export interface SettledBatch {
  readonly entries: readonly WaitingEntry[];
  readonly letters: readonly DeadLetter[];
  readonly tookMs: number;
}

/** The queue of one namespace: its accepted entries that are not settled, in the order of positions. */
export class QueueState {
  readonly #world: Pick<QueueWorld, 'config' | 'journal'>;
  readonly #totals: Totals;
  /** Accepted and not settled, those on their way to the disk included. */
  #size = 0;
  #live: WaitingEntry[] = [];
  /** Before it all are settled. */
  #head = 0;
  /** Settled before anything live is. */
  #over: OverEntry[] = [];
  /** First entry that this process has accepted. */
  #firstNew = Number.POSITIVE_INFINITY;
  /** Last entry that an attempt was made with. */
  #triedTo = 0;
  /** Last position under which the database has something else. */
  #floor = 0;
  /** Entries that were accepted under an older token are never applied, as the database has said. */
  #oldestToken = 0;
  /** Entries of an earlier run up to here are too old to be applied: others have written since. */
  #staleTo = 0;
  readonly #retried = new Set<string>();
  /** Entries up to here are applied without waiting for others. */
  #flushTo = 0;
  /** Monotonic; when the entries behind `#flushTo` have waited long enough. */
  #dueAt = Number.POSITIVE_INFINITY;
  #applied = 0;
  #deadLettered = 0;

  constructor(world: Pick<QueueWorld, 'config' | 'journal'>, totals: Totals, restored: readonly PendingEntry[]) {
    this.#world = world;
    this.#totals = totals;
    for (const entry of restored) this.#restore(entry);
  }

  get size(): number {
    return this.#size;
  }

  /** Writes applied since the start. */
  get applied(): number {
    return this.#applied;
  }

  /** Dead letters made by batches since the start. */
  get deadLettered(): number {
    return this.#deadLettered;
  }

  get isEmpty(): boolean {
    return this.#head === this.#live.length && this.#over.length === 0;
  }

  get first(): WaitingEntry | null {
    const live = this.#live[this.#head] ?? null;
    const over = this.#over[0]?.entry ?? null;
    return over === null || (live !== null && live.position < over.position) ? live : over;
  }

  /** All up to here are settled. */
  get settledTo(): number {
    const { first } = this;
    return first === null ? Number.POSITIVE_INFINITY : first.position - 1;
  }

  get over(): readonly OverEntry[] {
    return this.#over;
  }

  /** The queue cannot be further, as far as this process knows. */
  get knownTo(): number {
    return Math.max(this.#triedTo, this.#floor);
  }

  get staleTo(): number {
    return this.#staleTo;
  }

  /** Whether another attempt at the dead letter waits. */
  isRetried(letter: string): boolean {
    return this.#retried.has(letter);
  }

  /** Counts a write before it goes to the journal. Returns how many wait. @throws ApiError `write_buffer_full` */
  take(bytes: number): number {
    this.#totals.take(bytes);
    this.#size += 1;
    return this.#size;
  }

  /** The journal did not accept a write that was counted. */
  giveBack(bytes: number): void {
    this.#size -= 1;
    this.#totals.giveBack(bytes);
  }

  /**
   * Adds an entry that the journal has accepted; returns whether it changes when the queue has to act. An entry that comes
   * too late to be applied in its order is kept as a dead letter, as is one that was on its way to the disk while the queue
   * changed hands.
   */
  push(entry: PendingEntry, compiled: QueuedEntry | null, nowMs: number): boolean {
    const waiting = { ...entry, compiled: compiled !== null && this.#totals.keep(entry.bytes) ? compiled : null };
    const { position, retryOf, token } = waiting;
    if (retryOf !== null) this.#retried.add(retryOf);
    if (position <= this.#triedTo || position <= this.#floor || token < this.#oldestToken) {
      insertInOrder(this.#over, { entry: waiting, isOrphan: true }, (one) => one.entry.position);
    } else {
      this.#firstNew = Math.min(this.#firstNew, position);
      insertInOrder(this.#live, waiting, (one) => one.position, this.#head);
    }
    const isFirst = this.#dueAt === Number.POSITIVE_INFINITY;
    if (isFirst) this.#dueAt = nowMs + this.#world.config.flushIntervalMs;
    return isFirst || this.#over.length > 0;
  }

  /** Time until entries are to be applied or settled; Infinity if none wait. */
  waitMs(nowMs: number): number {
    return this.#over.length > 0 || this.isDue(nowMs) ? 0 : this.#dueAt - nowMs;
  }

  /** Whether live entries are to be applied now. */
  isDue(nowMs: number): boolean {
    const first = this.#live[this.#head];
    if (first === undefined) {
      this.#dueAt = Number.POSITIVE_INFINITY;
      return false;
    }
    if (this.#totals.writes >= this.#world.config.flushAtPending || nowMs >= this.#dueAt) {
      this.flushAll();
      this.#dueAt = Number.POSITIVE_INFINITY;
    }
    return first.position <= this.#flushTo;
  }

  /** No entry of now waits for its time. Returns the last position, 0 for none. */
  flushAll(): number {
    const last = Math.max(this.#live.at(-1)?.position ?? 0, this.#over.at(-1)?.entry.position ?? 0);
    this.#flushTo = Math.max(this.#flushTo, last);
    return last;
  }

  /**
   * Sorts the entries by the queue's row in the database. Returns whether the database has other writes in their places,
   * as if another sidecar had a copy of this journal.
   */
  sort(row: QueueRow): boolean {
    const isNew = ({ position }: PendingEntry) => position >= this.#firstNew && position > this.#triedTo;
    const { done, orphans, live } = sortByRow(row, this.#live.slice(this.#head), isNew);
    this.#live = [...live];
    this.#head = 0;
    this.#floor = row.position;
    this.#oldestToken = row.token;
    for (const entry of done) this.#over.push({ entry, isOrphan: false });
    for (const entry of orphans) this.#over.push({ entry, isOrphan: true });
    this.#over.sort((left, right) => left.entry.position - right.entry.position);
    return orphans.some(({ token, position }) => token === row.token && position <= row.position);
  }

  /**
   * The box was dead: entries that are older than `STALE_MS`, and older than the last write of another sidecar, would undo
   * what was saved since. Ages are durations, so that no clock is compared with another.
   */
  markStale(now: number, othersMsAgo: number): void {
    for (const { position, time } of this.#live.slice(this.#head)) {
      if (position >= this.#firstNew) return;
      if (now - time > Math.max(STALE_MS, othersMsAgo)) this.#staleTo = position;
    }
  }

  /** Live entries, without the first `skipped` and those behind an entry that is settled before them. */
  *live(skipped = 0): Generator<WaitingEntry> {
    for (let i = this.#head + skipped; i < this.#live.length; i += 1) {
      const entry = this.#live[i] as WaitingEntry;
      if (entry.position > (this.#over[0]?.entry.position ?? entry.position)) return;
      yield entry;
    }
  }

  /** An attempt is made with the live entries up to here, and its outcome may stay unknown. */
  tried(position: number): void {
    this.#triedTo = Math.max(this.#triedTo, position);
  }

  /** The attempt was none: nothing beyond `position` was tried. */
  untried(position: number): void {
    this.#triedTo = position;
  }

  settle({ entries, letters, tookMs: batchMs }: SettledBatch): void {
    this.#head += entries.length;
    if (this.#head >= MAX_HEAD || this.#head === this.#live.length) {
      this.#live = this.#live.slice(this.#head);
      this.#head = 0;
    }
    const applied = entries.length - this.#buried(entries, letters);
    this.#applied += applied;
    this.#deadLettered += letters.length;
    this.#forget(entries);
    this.#totals.settle({ entries, applied, deadLettered: letters.length, batchMs });
  }

  /** Entries of `over` are done with; `letters` of them are dead letters now. */
  settleOver(over: readonly OverEntry[], letters: number): void {
    const gone = new Set(over);
    this.#over = this.#over.filter((one) => !gone.has(one));
    const entries = over.map(({ entry }) => entry);
    this.#forget(entries);
    this.#totals.settle({ entries, applied: 0, deadLettered: letters, batchMs: null });
  }

  #restore(entry: PendingEntry): void {
    this.#totals.restore(entry.bytes);
    this.#size += 1;
    this.#live.push({ ...entry, compiled: null });
    if (entry.retryOf !== null) this.#retried.add(entry.retryOf);
    this.#flushTo = entry.position;
  }

  /** Entries that are dead letters as a whole; operations of a batch that is not atomic may be letters by themselves. */
  #buried(entries: readonly WaitingEntry[], letters: readonly DeadLetter[]): number {
    if (letters.length === 0) return 0;
    const ids = new Set(letters.map(({ id }) => id));
    return entries.filter(({ retryOf, position }) => ids.has(retryOf ?? this.#world.journal.idOf(position))).length;
  }

  #forget(entries: readonly WaitingEntry[]): void {
    this.#size -= entries.length;
    for (const { retryOf } of entries) if (retryOf !== null) this.#retried.delete(retryOf);
    this.#world.journal.settle(entries);
  }
}

/** Almost all items belong at the end or a few places before it. @param start what is before it stays there */
function insertInOrder<T>(list: T[], item: T, positionOf: (item: T) => number, start = 0): void {
  const position = positionOf(item);
  let at = list.length;
  while (at > start && positionOf(list[at - 1] as T) > position) at -= 1;
  if (at === list.length) list.push(item);
  else list.splice(at, 0, item);
}
