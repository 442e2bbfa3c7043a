/** Slots of the smallest index; always a power of two, and twice the places for entries. */
const FIRST_SLOTS = 64;
const EMPTY = -1;
const GONE = -2;

/**
 * A `Map` in the order of insertion for keys that come and go with each call: random texts, or numbers that count up.
 *
 * A `Map` that grows or shrinks leaves its former storage behind, which points to the next one. Once such a storage is old, the
 * collector of young objects takes all later ones, and the calls in them, for alive, copies them and promotes them: pauses of 5 ms
 * in the game's thread. This table uses its storage again.
 */
export class OrderedTable<K extends string | number, V> {
  /** Places of entries by the hash of their keys, with linear probing. */
  #slots = new Int32Array(FIRST_SLOTS).fill(EMPTY);
  /** In the order of insertion; undefined if an entry was deleted. */
  #keys: (K | undefined)[] = [];
  #values: (V | undefined)[] = [];
  /** Places up to the newest entry. */
  #used = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    const slot = this.#slotOf(key);
    return slot < 0 ? undefined : this.#values[this.#slots[slot] as number];
  }

  /** @param key of no entry yet */
  add(key: K, value: V): void {
    if (this.#used * 2 === this.#slots.length) this.#makeRoom();
    this.#index(key, this.#used);
    this.#keys[this.#used] = key;
    this.#values[this.#used] = value;
    this.#used += 1;
    this.#size += 1;
  }

  /** Deletes an entry; its value, or undefined if there is none. */
  take(key: K): V | undefined {
    const slot = this.#slotOf(key);
    if (slot < 0) return undefined;
    const place = this.#slots[slot] as number;
    const value = this.#values[place];
    this.#slots[slot] = GONE;
    this.#keys[place] = undefined;
    this.#values[place] = undefined;
    this.#size -= 1;
    if (this.#size === 0) this.#begin();
    return value;
  }

  clear(): void {
    this.#keys.length = 0;
    this.#values.length = 0;
    this.#size = 0;
    this.#begin();
  }

  /** Entries with the oldest first. Entries may be deleted meanwhile, and none added. */
  *entries(): Generator<[K, V]> {
    for (let place = 0; place < this.#used; place += 1) {
      const key = this.#keys[place];
      if (key !== undefined) yield [key, this.#values[place] as V];
    }
  }

  /** Half the slots if few were needed: what a burst took would else be cleared with each later call. */
  #begin(): void {
    if (this.#used * 8 < this.#slots.length) this.#resize(0.5);
    this.#used = 0;
    this.#slots.fill(EMPTY);
  }

  /** Twice as many places if more than half are taken, half as many if few are; else those of deleted entries are enough. */
  #makeRoom(): void {
    const entries = [...this.entries()];
    if (this.#size * 2 > this.#used) this.#resize(2);
    else if (this.#size * 8 < this.#used) this.#resize(0.5);
    this.clear();
    for (const [key, value] of entries) this.add(key, value);
  }

  /** Drops what the slots hold, unless they are the fewest already. */
  #resize(factor: 0.5 | 2): void {
    const length = Math.max(this.#slots.length * factor, FIRST_SLOTS);
    if (length !== this.#slots.length) this.#slots = new Int32Array(length);
  }

  #index(key: K, place: number): void {
    const mask = this.#slots.length - 1;
    let slot = hashOf(key) & mask;
    while ((this.#slots[slot] as number) >= 0) slot = (slot + 1) & mask;
    this.#slots[slot] = place;
  }

  /** Negative if there is no entry. At least half of the slots have never been used, so each search ends. */
  #slotOf(key: K): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(key) & mask; ; slot = (slot + 1) & mask) {
      const place = this.#slots[slot] as number;
      if (place === EMPTY) return -1;
      if (place !== GONE && this.#keys[place] === key) return slot;
    }
  }
}

/** Last characters: ids are random at their end, and the very last one has two bits. */
function hashOf(key: string | number): number {
  if (typeof key === 'number') return key;
  const end = key.length - 2;
  return (key.charCodeAt(end) << 12) ^ (key.charCodeAt(end - 1) << 6) ^ key.charCodeAt(end - 2);
}
