const WORDS = 2;

/**
 * A set of 64-bit fingerprints in one typed array: 8 bytes each at a load of a third to two thirds, where strings in a
 * Set would take ten times that. Grows by doubling; nothing is ever removed.
 */
export class NonceTable {
  #slots: Uint32Array;
  #mask: number;
  #size = 0;

  /** `expected` is only a hint: a table that is given it grows without copying. */
  constructor(expected = 0) {
    const capacity = 2 ** Math.ceil(Math.log2(Math.max(1024, expected * 1.5)));
    this.#slots = new Uint32Array(capacity * WORDS);
    this.#mask = capacity - 1;
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
    if (this.#size * 3 > (this.#mask + 1) * 2) this.#grow();
  }

  #find(high: number, low: number): number {
    let index = low & this.#mask;
    for (;;) {
      const at = index * WORDS;
      const first = this.#slots[at];
      const second = this.#slots[at + 1];
      if ((first === high && second === low) || (first === 0 && second === 0)) return at;
      index = (index + 1) & this.#mask;
    }
  }

  #grow(): void {
    const old = this.#slots;
    const capacity = (this.#mask + 1) * 2;
    this.#slots = new Uint32Array(capacity * WORDS);
    this.#mask = capacity - 1;
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
