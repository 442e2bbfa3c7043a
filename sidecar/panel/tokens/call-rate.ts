const CALLS_A_SECOND = 10;
const BURST = 60;

interface Bucket {
  /** Calls that may be made at once. */
  left: number;
  at: number;
}

/** At most 10 calls a second for each token, after a burst of 60. One bucket for each token that is used: few. */
export class CallRate {
  readonly #monotonicNow: () => number;
  readonly #buckets = new Map<number, Bucket>();

  /** @param monotonicNow milliseconds that never go back */
  constructor(monotonicNow: () => number) {
    this.#monotonicNow = monotonicNow;
  }

  /** Counts a call. Seconds until the next may be made if this one may not; else 0. */
  count(id: number): number {
    const now = this.#monotonicNow();
    const bucket = this.#buckets.get(id) ?? { left: BURST, at: now };
    bucket.left = Math.min(BURST, bucket.left + ((now - bucket.at) / 1000) * CALLS_A_SECOND);
    bucket.at = now;
    this.#buckets.set(id, bucket);
    if (bucket.left < 1) return Math.max(1, Math.ceil((1 - bucket.left) / CALLS_A_SECOND));
    bucket.left -= 1;
    return 0;
  }

  forget(id: number): void {
    this.#buckets.delete(id);
  }
}
