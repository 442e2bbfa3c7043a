import { ApiError } from '#protocol/errors.ts';
import type { DeadLetter } from '../engine/queues.ts';
import type { NewEntry } from './journal/entries.ts';
import type { LetterCount } from './letter-count.ts';
import type { QueueState, SettledBatch } from './queue-state.ts';
import type { QueueWorld } from './queue-world.ts';
import { orphanOf } from './sort-by-row.ts';

const MIN_INTERVAL_MS = 1000;
/** Letters that are read or written at once. */
const MAX_LETTERS = 200;

/** A write as it comes into the queue, which adds its own name and token. */
export type EnteringWrite = Omit<NewEntry, 'namespace' | 'token' | 'pending'>;

/** Dead letters of one namespace: stores its orphans as letters, and puts wanted letters at the end of its queue. */
export class QueueLetters {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  readonly #count: LetterCount;
  /** Monotonic; when to look for wanted letters again. */
  #nextAt = 0;

  constructor(namespace: string, world: QueueWorld, count: LetterCount) {
    this.#namespace = namespace;
    this.#world = world;
    this.#count = count;
  }

  /** Monotonic; Infinity if there is nothing to look for. */
  get nextAt(): number {
    return this.#count.count > 0 ? this.#nextAt : Number.POSITIVE_INFINITY;
  }

  /**
   * Not beside an attempt to apply: a letter that is wanted then may be done by the time its second entry is appended.
   * A letter whose second entry is in the journal already has its turn.
   */
  async retry(state: QueueState, append: (write: EnteringWrite) => Promise<unknown>): Promise<void> {
    const { clock, config, engine, statementTimeoutMs } = this.#world;
    const now = clock.monotonicNow();
    if (now < this.nextAt) return;
    this.#nextAt = now + Math.max(MIN_INTERVAL_MS, config.flushIntervalMs);
    const bounds = { deadline: now + statementTimeoutMs };
    const letters = await engine.queues.lettersToRetry(this.#namespace, MAX_LETTERS, bounds);
    try {
      for (const { id, kid, op, payload, time } of letters) {
        if (state.isRetried(id)) continue;
        // In turn: a letter that cannot be accepted now is still wanted later, in the same order.
        await append({ kid, op, payload, time, key: null, retryOf: id });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }

  /** Settles the entries that go before the live ones; orphans become letters. */
  async settleOver(state: QueueState): Promise<void> {
    // A copy: more may come while these are written.
    const over = [...state.over];
    if (over.length === 0) return;
    // A retry has its letter still: a queue finds it there.
    const orphans = over.flatMap(({ entry, isOrphan }) => (isOrphan && entry.retryOf === null ? [entry] : []));
    const { engine, journal, clock, statementTimeoutMs } = this.#world;
    for (let i = 0; i < orphans.length; i += MAX_LETTERS) {
      const read = await journal.read(orphans.slice(i, i + MAX_LETTERS));
      for (const [token, entries] of Map.groupBy(read, (entry) => entry.token)) {
        const owner = { namespace: this.#namespace, journal: journal.id, token };
        const bounds = { deadline: clock.monotonicNow() + statementTimeoutMs };
        await engine.queues.buryOrphans(owner, entries.map(orphanOf), bounds);
      }
    }
    state.settleOver(over, orphans.length);
    if (orphans.length === 0) return;
    this.#tellOrphans(orphans.length);
    void this.#count.refresh();
    await journal.checkpoint();
  }

  /** Reports the letters of a batch; entries that were letters are none any more. */
  report({ entries, letters }: SettledBatch): void {
    const [first] = letters;
    if (first !== undefined) this.#tellLetters(first, letters.length);
    if (first !== undefined || entries.some((entry) => entry.retryOf !== null)) void this.#count.refresh();
  }

  tellCopied(): void {
    const { log, journal } = this.#world;
    log(
      'error',
      'the database has other writes in the places of acknowledged ones, which become dead letters: does another ' +
        'sidecar run with a copy of this journal? Stop it, and give it an empty folder as journal',
      { namespace: this.#namespace, journal: journal.id },
    );
  }

  #tellLetters({ id, op, code }: DeadLetter, writes: number): void {
    this.#world.log('warn', 'queued writes can never be applied, and are dead letters now; see: dead-letters list', {
      ...{ namespace: this.#namespace, writes, first: id, op, code },
    });
  }

  #tellOrphans(writes: number): void {
    this.#world.log(
      'error',
      'acknowledged writes became dead letters, as rows of a backup or a copy are there since; see: dead-letters list',
      { namespace: this.#namespace, writes },
    );
  }
}
