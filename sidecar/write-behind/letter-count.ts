import type { QueueWorld } from './queue-world.ts';

type LetterWorld = Pick<QueueWorld, 'engine' | 'clock' | 'statementTimeoutMs'>;

/** Other sidecars and the command line change the letters too. */
const REFRESH_MS = 10_000;

/** Number of dead letters in the database, as last read: for health, and to look for retries only if there are letters. */
export class LetterCount {
  readonly #world: LetterWorld;
  #count = 0;
  #refreshing: Promise<void> | null = null;
  #isStale = false;
  #cancel: () => void = () => {};
  #isStopped = false;

  readonly #onSome: () => void;

  /** `onSome`: there are letters, and none were known before. */
  constructor(world: LetterWorld, onSome: () => void) {
    this.#world = world;
    this.#onSome = onSome;
  }

  get count(): number {
    return this.#count;
  }

  /** Never rejects: if the database is away, the count stays as it was. */
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
    const { engine, clock, statementTimeoutMs } = this.#world;
    while (this.#isStale && !this.#isStopped) {
      this.#isStale = false;
      try {
        const had = this.#count;
        this.#count = await engine.queues.countLetters({ deadline: clock.monotonicNow() + statementTimeoutMs });
        if (had === 0 && this.#count > 0) this.#onSome();
      } catch {
        return;
      }
    }
  }

  #schedule(): void {
    this.#cancel();
    if (!this.#isStopped) this.#cancel = this.#world.clock.setTimeout(() => void this.refresh(), REFRESH_MS);
  }
}
