/** Ratio of the histogram's limits: a percentile is at most a quarter too high. */
const RATIO = 1.25;
const SMALLEST_MS = 0.05;
const BUCKETS = 64;

export interface CallFigures {
  readonly calls: number;
  readonly failures: number;
  /** Milliseconds; null without calls. */
  readonly p50: number | null;
  readonly p99: number | null;
}

/** Calls since the last reading. `add` runs for every answer, so it costs one logarithm and three additions. */
export class CallCounter {
  readonly #buckets = new Uint32Array(BUCKETS);
  #calls = 0;
  #failures = 0;

  add(ms: number, isFailure: boolean): void {
    this.#calls += 1;
    if (isFailure) this.#failures += 1;
    const bucket = ms <= SMALLEST_MS ? 0 : Math.ceil(Math.log(ms / SMALLEST_MS) / Math.log(RATIO));
    const place = Math.min(BUCKETS - 1, bucket);
    this.#buckets[place] = (this.#buckets[place] as number) + 1;
  }

  /** Returns the figures, and begins again. */
  take(): CallFigures {
    const figures = {
      calls: this.#calls,
      failures: this.#failures,
      p50: this.#percentile(0.5),
      p99: this.#percentile(0.99),
    };
    this.#buckets.fill(0);
    this.#calls = 0;
    this.#failures = 0;
    return figures;
  }

  #percentile(part: number): number | null {
    if (this.#calls === 0) return null;
    const rank = Math.ceil(this.#calls * part);
    let seen = 0;
    for (let place = 0; place < BUCKETS; place++) {
      seen += this.#buckets[place] as number;
      if (seen >= rank) return SMALLEST_MS * RATIO ** place;
    }
    return null;
  }
}
