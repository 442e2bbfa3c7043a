const WINDOW_MS = 15 * 60_000;
const MOST_SOURCES = 20_000;

/**
 * At most `most` attempts of one source in any 15 minutes. Memory is bounded: of too many sources the one that came first is
 * forgotten, which can only let it through.
 */
export class AttemptLimit {
  readonly #most: number;
  readonly #now: () => number;
  readonly #times = new Map<string, number[]>();

  /** `now` in milliseconds, monotonic where it can be. */
  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  /** Seconds until the source is heard again; 0 where it is. */
  blockedSeconds(source: string): number {
    const times = this.#recent(source);
    const oldest = times.at(-this.#most);
    return oldest === undefined ? 0 : Math.ceil((oldest + WINDOW_MS - this.#now()) / 1000);
  }

  count(source: string): void {
    const times = [...this.#recent(source), this.#now()].slice(-this.#most);
    if (!this.#times.has(source) && this.#times.size >= MOST_SOURCES) {
      for (const first of this.#times.keys()) {
        this.#times.delete(first);
        break;
      }
    }
    this.#times.set(source, times);
  }

  #recent(source: string): number[] {
    const since = this.#now() - WINDOW_MS;
    return (this.#times.get(source) ?? []).filter((time) => time > since);
  }
}
