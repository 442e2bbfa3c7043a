const FIRST = 128;
const MIN_OF_SUCCESS = 16;
const MAX = 1000;
/** Long enough that the fixed cost of a transaction is small, short enough that those who drain do not wait for it. */
const AIM_MS = 100;

/** How many entries a batch should have, learned from how long the last ones took. */
export class BatchSize {
  #entries = FIRST;

  get entries(): number {
    return this.#entries;
  }

  /** A batch of `count` entries was applied within `ms`. */
  succeeded(count: number, ms: number): void {
    if (ms > 2 * AIM_MS) this.#entries = Math.max(Math.min(this.#entries, MIN_OF_SUCCESS), this.#entries >> 1);
    else if (ms < AIM_MS / 2 && count >= this.#entries) this.#entries = Math.min(MAX, this.#entries * 2);
  }

  /** Down to one at a time, which then has all the time there is. */
  timedOut(): void {
    this.#entries = Math.max(1, this.#entries >> 1);
  }
}
