const DEFAULT_WINDOW_MS = 15 * 60_000;
const MOST_SOURCES = 20_000;

/**
 * At most `most` attempts per source in any window of time, by default 15 minutes. Memory is bounded: beyond the bound the oldest source is forgotten,
 * which can only let it through.
 */
export class AttemptLimit {
  readonly #most: number;
  readonly #monotonicNow: () => number;
  readonly #windowMs: number;
  readonly #times = new Map<string, number[]>();

  /** @param monotonicNow milliseconds that never go back: a clock set back must not extend a block */
  constructor(most: number, monotonicNow: () => number, windowMs = DEFAULT_WINDOW_MS) {
    this.#most = most;
    this.#windowMs = windowMs;
    this.#monotonicNow = monotonicNow;
  }

  /** Seconds until the source may try again; 0 if it may. */
  blockedSeconds(source: string): number {
    const times = this.#recent(source);
    const oldest = times.at(-this.#most);
    return oldest === undefined ? 0 : Math.ceil((oldest + this.#windowMs - this.#monotonicNow()) / 1000);
  }

  count(source: string): void {
    const times = [...this.#recent(source), this.#monotonicNow()].slice(-this.#most);
    if (!this.#times.has(source) && this.#times.size >= MOST_SOURCES) {
      for (const first of this.#times.keys()) {
        this.#times.delete(first);
        break;
      }
    }
    this.#times.set(source, times);
  }

  /** Takes the newest attempt off, which was none after all. */
  takeOff(source: string): void {
    this.#times.set(source, this.#recent(source).slice(0, -1));
  }

  #recent(source: string): number[] {
    const since = this.#monotonicNow() - this.#windowMs;
    return (this.#times.get(source) ?? []).filter((time) => time > since);
  }
}
