import type { CallBounds } from '#engine/rows.ts';
import { orLate } from '#sidecar/deadline.ts';

/** What a change that was cut off may take to its end, like a sync whose caller is gone. */
const REPAIR_TIMEOUT_MS = 3_600_000;

/**
 * Changes that were cut off, being finished for whoever reads the schema next: one attempt a namespace at a time, which
 * goes on when its reader's time is over.
 */
export class Repairs {
  readonly #repair: (namespace: string, bounds: CallBounds) => Promise<void>;
  readonly #running = new Map<string, Promise<void>>();

  constructor(repair: (namespace: string, bounds: CallBounds) => Promise<void>) {
    this.#repair = repair;
  }

  /** Resolves when the attempt has ended, however it did, or at `until` (`performance.now()` milliseconds). */
  async wait(namespace: string, until: number): Promise<void> {
    await orLate(this.#attempt(namespace), until - performance.now(), undefined);
  }

  #attempt(namespace: string): Promise<void> {
    const running = this.#running.get(namespace);
    if (running !== undefined) return running;
    const attempt = this.#repair(namespace, { deadline: performance.now() + REPAIR_TIMEOUT_MS })
      .catch(() => {
        // Somebody else is at it, or the log of the sessions tells what is wrong; the next reader tries again.
      })
      .finally(() => this.#running.delete(namespace));
    this.#running.set(namespace, attempt);
    return attempt;
  }
}
