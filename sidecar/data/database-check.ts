import { performance } from 'node:perf_hooks';
import { orLate } from '../deadline.ts';
import type { Engine, WriteObstacle } from '../engine/engine.ts';

/** Probes answer within 2 s even when the database hangs (contract section 3). */
const PING_MS = 1500;
/** A verdict is good for this long, so that a thousand probes a second are two pings. */
const FRESH_MS = 500;

export interface DatabaseVerdict {
  readonly isReachable: boolean;
  /** Reason why a database that can be reached takes no writes; null if it takes them, or cannot be reached. */
  readonly obstacle: WriteObstacle | null;
}

const AWAY: DatabaseVerdict = { isReachable: false, obstacle: null };

/** Whether the database answers and takes writes. Simultaneous questions share one ping. */
export class DatabaseCheck {
  readonly #engine: Pick<Engine, 'ping'>;
  #verdict = AWAY;
  #verdictAt = Number.NEGATIVE_INFINITY;
  #asked: Promise<DatabaseVerdict> | null = null;

  constructor(engine: Pick<Engine, 'ping'>) {
    this.#engine = engine;
  }

  /** Never rejects, and resolves within 1.5 s. */
  look(): DatabaseVerdict | Promise<DatabaseVerdict> {
    if (performance.now() - this.#verdictAt < FRESH_MS) return this.#verdict;
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  async #ask(): Promise<DatabaseVerdict> {
    const answered = this.#engine.ping({ deadline: performance.now() + PING_MS }).then(
      (obstacle): DatabaseVerdict => ({ isReachable: true, obstacle }),
      () => AWAY,
    );
    this.#verdict = await orLate(answered, PING_MS, AWAY);
    this.#verdictAt = performance.now();
    this.#asked = null;
    return this.#verdict;
  }
}
