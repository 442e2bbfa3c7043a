const WINDOW_MS = 900_000;
const MOST = 10;
const MOST_ADDRESSES = 1000;

/** Ten wrong tokens in a quarter of an hour, and an address waits; others do not. */
export class WrongTokens {
  readonly #now: () => number;
  readonly #times = new Map<string, number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** 0 where it may try. */
  lockedSeconds(address: string): number {
    const times = this.#recent(address);
    if (times.length < MOST) return 0;
    return Math.ceil(((times[0] as number) + WINDOW_MS - this.#now()) / 1000);
  }

  count(address: string): void {
    const times = [...this.#recent(address), this.#now()];
    this.#times.delete(address);
    this.#times.set(address, times);
    const oldest = this.#times.keys().next();
    if (this.#times.size > MOST_ADDRESSES && oldest.done !== true) this.#times.delete(oldest.value);
  }

  #recent(address: string): number[] {
    const since = this.#now() - WINDOW_MS;
    return (this.#times.get(address) ?? []).filter((time) => time > since);
  }
}
