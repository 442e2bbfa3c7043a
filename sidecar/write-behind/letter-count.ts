import type { QueueCalls } from '../engine/queues.ts';
import type { Clock } from './journal/clock.ts';

/** Other sidecars and the command line change them too. */
const REFRESH_MS = 10_000;

/** How many dead letters the database holds, as far as is known: for health, and whether looking for retries is worth it. */
export class LetterCount {
  readonly #queues: Pick<QueueCalls, 'countLetters'>;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  #count = 0;
  #refreshing: Promise<void> | null = null;
  #isStale = false;
  #cancel: () => void = () => {};
  #isStopped = false;

  readonly #onSome: () => void;

  /** `onSome`: there are letters where none were known before. */
  constructor(queues: Pick<QueueCalls, 'countLetters'>, clock: Clock, timeoutMs: number, onSome: () => void) {
    this.#onSome = onSome;
    this.#queues = queues;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  get count(): number {
    return this.#count;
  }

  /** Never rejects: with the database away the count stays as it was. */
  refresh(): Promise<void> {
    this.#isStale = true;
    this.#refreshing ??= this.#refreshUntilFresh().finally(() => {
      this.#refreshing = null;
      this.#schedule();
    });
    return this.#refreshing;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async #refreshUntilFresh(): Promise<void> {
    while (this.#isStale && !this.#isStopped) {
      this.#isStale = false;
      try {
        const had = this.#count;
        this.#count = await this.#queues.countLetters({ deadline: this.#clock.monotonicNow() + this.#timeoutMs });
        if (had === 0 && this.#count > 0) this.#onSome();
      } catch {
        return;
      }
    }
  }

  #schedule(): void {
    this.#cancel();
    if (!this.#isStopped) this.#cancel = this.#clock.setTimeout(() => void this.refresh(), REFRESH_MS);
  }
}
