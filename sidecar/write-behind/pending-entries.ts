import type { QueueRow } from '../engine/queues.ts';
import type { PendingEntry } from './journal/entries.ts';
import type { QueueWorld } from './queue-world.ts';
import { orphanOf, sortByRow } from './sort-by-row.ts';

/** Orphans that go to the database at once. */
const MAX_LETTERS = 200;
/** Settled entries at the head are cut off when they are that many. */
const MAX_HEAD = 4096;

/** Entries of one namespace that are accepted and not settled, in the order of positions. */
export class PendingEntries {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  #live: PendingEntry[] = [];
  /** Before it all are settled. */
  #head = 0;
  /** What is not to be applied any more: applied before, or orphans. Goes before anything live is settled. */
  #over: { readonly entry: PendingEntry; readonly isOrphan: boolean }[] = [];
  /** First entry that this process has accepted. */
  #firstNew = Number.POSITIVE_INFINITY;
  /** Last entry that an attempt was made with. */
  #triedTo = 0;
  /** Last position under which the database has something else. */
  #floor = 0;
  /** Of what is accepted under an older one nothing is applied any more, as the database has said. */
  #oldestToken = 0;
  readonly #retried = new Set<string>();

  constructor(namespace: string, world: QueueWorld) {
    this.#namespace = namespace;
    this.#world = world;
  }

  get isEmpty(): boolean {
    return this.#head === this.#live.length && this.#over.length === 0;
  }

  get first(): PendingEntry | null {
    const { firstLive } = this;
    const over = this.#over[0]?.entry ?? null;
    return over === null || (firstLive !== null && firstLive.position < over.position) ? firstLive : over;
  }

  get firstLive(): PendingEntry | null {
    return this.#live[this.#head] ?? null;
  }

  /** 0 for none. */
  get lastPosition(): number {
    return Math.max(this.#live.at(-1)?.position ?? 0, this.#over.at(-1)?.entry.position ?? 0);
  }

  /** All up to here are settled. */
  get settledTo(): number {
    const first = this.first;
    return first === null ? Number.POSITIVE_INFINITY : first.position - 1;
  }

  get hasOver(): boolean {
    return this.#over.length > 0;
  }

  isRetried(letter: string): boolean {
    return this.#retried.has(letter);
  }

  /** From the journal, at the start. */
  restore(entry: PendingEntry): void {
    this.#live.push(entry);
    if (entry.retryOf !== null) this.#retried.add(entry.retryOf);
  }

  /**
   * An entry that was accepted just now. What comes too late to be applied in its order is kept as a dead letter, as is
   * what was on its way to the disk while the queue changed hands.
   */
  push(entry: PendingEntry): void {
    if (entry.retryOf !== null) this.#retried.add(entry.retryOf);
    const isLate = entry.position <= this.#triedTo || entry.position <= this.#floor;
    if (isLate || entry.token < this.#oldestToken) {
      insertInOrder(this.#over, { entry, isOrphan: true }, (one) => one.entry.position);
      return;
    }
    this.#firstNew = Math.min(this.#firstNew, entry.position);
    insertInOrder(this.#live, entry, ({ position }) => position, this.#head);
  }

  /** What the queue's row in the database says of them. */
  sort(row: QueueRow): void {
    const { journal } = this.#world;
    const isNew = ({ position }: PendingEntry) => position >= this.#firstNew && position > this.#triedTo;
    const { done, orphans, live } = sortByRow(row, journal.id, this.#live.slice(this.#head), isNew);
    this.#live = [...live];
    this.#head = 0;
    const isOwner = row.journal === journal.id;
    if (isOwner) this.#floor = row.position;
    this.#oldestToken = isOwner ? row.token : Number.POSITIVE_INFINITY;
    for (const entry of done) this.#over.push({ entry, isOrphan: false });
    for (const entry of orphans) this.#over.push({ entry, isOrphan: true });
    this.#over.sort((left, right) => left.entry.position - right.entry.position);
    if (isOwner && orphans.some(({ token, position }) => token === row.token && position <= row.position)) {
      this.#tellCopied();
    }
  }

  /** Without the first `skipped`, and what stands behind something that goes before it. */
  *live(skipped = 0): Generator<PendingEntry> {
    for (let i = this.#head + skipped; i < this.#live.length; i += 1) {
      const entry = this.#live[i] as PendingEntry;
      if (entry.position > (this.#over[0]?.entry.position ?? entry.position)) return;
      yield entry;
    }
  }

  /** The queue cannot be further, as far as this process knows. */
  get knownTo(): number {
    return Math.max(this.#triedTo, this.#floor);
  }

  /** The attempt after that was none: nothing beyond `position` was tried. */
  untried(position: number): void {
    this.#triedTo = position;
  }

  /** An attempt is made with the live entries up to here, and nobody may know what comes of it. */
  tried(position: number): void {
    this.#triedTo = Math.max(this.#triedTo, position);
  }

  /** The first of the live ones are applied, or dead letters. */
  settle(entries: readonly PendingEntry[]): void {
    this.#head += entries.length;
    if (this.#head >= MAX_HEAD || this.#head === this.#live.length) {
      this.#live = this.#live.slice(this.#head);
      this.#head = 0;
    }
    this.#forget(entries);
  }

  /** Puts orphans to the dead letters. How many entries are settled by it. */
  async settleOver(): Promise<number> {
    // A copy: more may come while these are written.
    const over = new Set(this.#over);
    if (over.size === 0) return 0;
    // A retry has its letter still: whoever owns the queue now finds it there.
    const orphans: PendingEntry[] = [];
    for (const { entry, isOrphan } of over) if (isOrphan && entry.retryOf === null) orphans.push(entry);
    for (let i = 0; i < orphans.length; i += MAX_LETTERS) await this.#toLetters(orphans.slice(i, i + MAX_LETTERS));
    this.#over = this.#over.filter((one) => !over.has(one));
    this.#forget(Array.from(over, ({ entry }) => entry));
    if (orphans.length > 0) await this.#tell(orphans.length);
    return over.size;
  }

  async #toLetters(orphans: readonly PendingEntry[]): Promise<void> {
    const { engine, journal, clock, statementTimeoutMs } = this.#world;
    for (const [token, entries] of Map.groupBy(await journal.read(orphans), (entry) => entry.token)) {
      const owner = { namespace: this.#namespace, journal: journal.id, token };
      const bounds = { deadline: clock.monotonicNow() + statementTimeoutMs };
      await engine.queues.buryOrphans(owner, entries.map(orphanOf), bounds);
    }
  }

  #tellCopied(): void {
    const { log, journal } = this.#world;
    log(
      'error',
      'the database has other writes in the places of acknowledged ones, which become dead letters: does another ' +
        'sidecar run with a copy of this journal? Stop it, and give it an empty folder as journal',
      { namespace: this.#namespace, journal: journal.id },
    );
  }

  async #tell(orphans: number): Promise<void> {
    const { journal, letters, log, tally } = this.#world;
    tally.deadLettered += orphans;
    log(
      'error',
      'acknowledged writes became dead letters, as another sidecar has taken their queue over; see: dead-letters list',
      {
        ...{ namespace: this.#namespace, writes: orphans },
      },
    );
    void letters.refresh();
    await journal.checkpoint();
  }

  #forget(entries: readonly PendingEntry[]): void {
    const { journal, capacity, recent } = this.#world;
    for (const entry of entries) {
      recent.forget(entry.position);
      capacity.give(entry.bytes);
      if (entry.retryOf !== null) this.#retried.delete(entry.retryOf);
    }
    journal.settle(entries);
  }
}

/** Almost all belong at the end or a few places before it. @param start what is before it stays there */
function insertInOrder<T>(list: T[], item: T, positionOf: (item: T) => number, start = 0): void {
  const position = positionOf(item);
  let at = list.length;
  while (at > start && positionOf(list[at - 1] as T) > position) at -= 1;
  if (at === list.length) list.push(item);
  else list.splice(at, 0, item);
}
