import { performance } from 'node:perf_hooks';
import { orLate } from '../deadline.ts';
import type { Engine } from '../engine/engine.ts';

/** Probes answer within 2 s even when the database hangs (contract section 3). */
const PING_MS = 1500;
/** A verdict is good for this long, so that a thousand probes a second are two pings. */
const FRESH_MS = 500;

/** Whether the database answers. Simultaneous questions share one ping. */
export class DatabaseCheck {
  readonly #engine: Pick<Engine, 'ping'>;
  #verdict = false;
  #verdictAt = Number.NEGATIVE_INFINITY;
  #asked: Promise<boolean> | null = null;

  constructor(engine: Pick<Engine, 'ping'>) {
    this.#engine = engine;
  }

  /** Never rejects, and resolves within 1.5 s. */
  isReachable(): boolean | Promise<boolean> {
    if (performance.now() - this.#verdictAt < FRESH_MS) return this.#verdict;
    this.#asked ??= this.#ask();
    return this.#asked;
  }

  async #ask(): Promise<boolean> {
    const answered = this.#engine.ping({ deadline: performance.now() + PING_MS }).then(
      () => true,
      () => false,
    );
    this.#verdict = await orLate(answered, PING_MS, false);
    this.#verdictAt = performance.now();
    this.#asked = null;
    return this.#verdict;
  }
}
