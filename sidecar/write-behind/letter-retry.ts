import { ApiError } from '#protocol/errors.ts';
import type { PendingEntries } from './pending-entries.ts';
import type { EnteringWrite } from './queue-entrance.ts';
import type { QueueWorld } from './queue-world.ts';

const MIN_INTERVAL_MS = 1000;
const MAX_LETTERS = 200;

/** Looks for dead letters that somebody wants to be tried again, and puts them at the end of the queue. */
export class LetterRetry {
  readonly #namespace: string;
  readonly #world: QueueWorld;
  readonly #entries: PendingEntries;
  readonly #append: (entry: EnteringWrite) => Promise<unknown>;
  #nextAt = 0;

  constructor(
    namespace: string,
    world: QueueWorld,
    entries: PendingEntries,
    append: (entry: EnteringWrite) => Promise<unknown>,
  ) {
    this.#namespace = namespace;
    this.#world = world;
    this.#entries = entries;
    this.#append = append;
  }

  /** Monotonic; Infinity where there is nothing to look for. */
  get nextAt(): number {
    return this.#world.letters.count > 0 ? this.#nextAt : Number.POSITIVE_INFINITY;
  }

  /**
   * Not beside an attempt to apply: a letter that is wanted then may be done by the time its second entry is appended.
   * One that waits in the journal already has its turn.
   */
  async look(): Promise<void> {
    const { clock, config, engine, statementTimeoutMs } = this.#world;
    const now = clock.monotonicNow();
    if (now < this.nextAt) return;
    this.#nextAt = now + Math.max(MIN_INTERVAL_MS, config.flushIntervalMs);
    const bounds = { deadline: now + statementTimeoutMs };
    const letters = await engine.queues.lettersToRetry(this.#namespace, MAX_LETTERS, bounds);
    try {
      for (const { id, kid, op, payload, time } of letters) {
        if (this.#entries.isRetried(id)) continue;
        // One after another: what cannot be accepted now is still wanted later, in the same order.
        await this.#append({ kid, op, payload, time, key: null, retryOf: id });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
}
