const WINDOW_MS = 600_000;
const MOST_RESTARTS = 5;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/** When a sidecar that ended is started again: after 1 s, doubling to 30 s, at most 5 times in 10 minutes (contract section 8). */
export class RestartRule {
  #restarts: number[] = [];

  /** @returns the pause before the next start in ms; null if there were enough */
  next(elapsedMs: number): number | null {
    this.#restarts = this.#restarts.filter((at) => elapsedMs - at < WINDOW_MS);
    if (this.#restarts.length >= MOST_RESTARTS) {
      return null;
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#restarts.length, LONGEST_PAUSE_MS);
    this.#restarts.push(elapsedMs);
    return pauseMs;
  }
}
