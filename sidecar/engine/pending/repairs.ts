import { orLate } from '#sidecar/deadline.ts';
import type { CallBounds } from '../rows.ts';

/** Time limit for finishing a change that was cut off, as for a sync whose caller is gone. */
const REPAIR_TIMEOUT_MS = 3_600_000;

/** Attempts to finish changes that were cut off: one a namespace at a time, in the background. */
export class Repairs {
  readonly #repair: (namespace: string, bounds: CallBounds) => Promise<unknown>;
  readonly #running = new Map<string, Promise<void>>();

  constructor(repair: (namespace: string, bounds: CallBounds) => Promise<unknown>) {
    this.#repair = repair;
  }

  /** Resolves when the attempt has ended, however it did: the log has the reason, and the next caller retries. */
  attempt(namespace: string): Promise<void> {
    const running = this.#running.get(namespace);
    if (running !== undefined) return running;
    const attempt = this.#repair(namespace, { deadline: performance.now() + REPAIR_TIMEOUT_MS })
      .then(() => {})
      .catch(() => {})
      .finally(() => this.#running.delete(namespace));
    this.#running.set(namespace, attempt);
    return attempt;
  }

  /** Waits for an attempt, at most until `until` (`performance.now()` milliseconds); the attempt goes on after that. */
  async wait(namespace: string, until: number): Promise<void> {
    await orLate(this.attempt(namespace), until - performance.now(), undefined);
  }
}
