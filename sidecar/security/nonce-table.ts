const WORDS = 2;
/** Slots for each fingerprint that is expected, and the fewest that a table has for each it holds. */
const ROOM = 1.6;
const MOST_FILLED = 1.4;

/**
 * A set of 64-bit fingerprints in one typed array: 8 bytes each in a table of up to three times as many; strings in a
 * Set would take ten times that. Grows by doubling; nothing is ever removed.
 */
export class NonceTable {
  #slots: Uint32Array;
  #capacity: number;
  #size = 0;

  /** `expected` is only a hint: a table that is given it grows without copying. */
  constructor(expected = 0) {
    this.#capacity = Math.max(1024, Math.ceil(expected * ROOM));
    this.#slots = new Uint32Array(this.#capacity * WORDS);
  }

  get size(): number {
    return this.#size;
  }

  has(high: number, low: number): boolean {
    const at = this.#find(high, low);
    return this.#slots[at] !== 0 || this.#slots[at + 1] !== 0;
  }

  /** Both words zero means an empty slot; no fingerprint has that. */
  add(high: number, low: number): void {
    const at = this.#find(high, low);
    if (this.#slots[at] !== 0 || this.#slots[at + 1] !== 0) return;
    this.#slots[at] = high;
    this.#slots[at + 1] = low;
    this.#size += 1;
    if (this.#size * MOST_FILLED > this.#capacity) this.#grow();
  }

  #find(high: number, low: number): number {
    // The upper bits of a fingerprint are as good as any, and take every capacity.
    let index = Math.floor((low / 2 ** 32) * this.#capacity);
    for (;;) {
      const at = index * WORDS;
      const first = this.#slots[at];
      const second = this.#slots[at + 1];
      if ((first === high && second === low) || (first === 0 && second === 0)) return at;
      index = index + 1 === this.#capacity ? 0 : index + 1;
    }
  }

  #grow(): void {
    const old = this.#slots;
    this.#capacity *= 2;
    this.#slots = new Uint32Array(this.#capacity * WORDS);
    for (let at = 0; at < old.length; at += WORDS) {
      const high = old[at] as number;
      const low = old[at + 1] as number;
      if (high === 0 && low === 0) continue;
      const place = this.#find(high, low);
      this.#slots[place] = high;
      this.#slots[place + 1] = low;
    }
  }
}
