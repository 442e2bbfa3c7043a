import type { KeySlot } from './entries.ts';
import {
  expiryOf,
  hasFingerprint,
  KEY_BYTES,
  type KeptAnswer,
  keptAnswer,
  keyHead,
  recordLength,
} from './key-record.ts';

/** Keys that expire within one such period share a table, which is dropped as a whole. */
const GENERATION_MS = 60_000;

interface KnownKey extends KeptAnswer {
  readonly isSame: boolean;
}

/** The keys of the last minutes. A table is dropped when all its keys have expired. */
export class KeyMemory {
  readonly #generations = new Map<number, KeyTable>();

  get size(): number {
    let size = 0;
    for (const table of this.#generations.values()) size += table.size;
    return size;
  }

  /** Ignores a key that has expired. */
  add(record: Buffer, at: number, now: number): void {
    const expiresAt = expiryOf(record, at);
    if (expiresAt <= now) return;
    const number = Math.floor(expiresAt / GENERATION_MS);
    let table = this.#generations.get(number);
    if (table === undefined) {
      this.#forget(now);
      table = new KeyTable();
      this.#generations.set(number, table);
    }
    table.add(record, at);
  }

  find(slot: KeySlot, now: number): KnownKey | null {
    if (this.#generations.size === 0) return null;
    const head = keyHead(slot);
    for (const table of this.#generations.values()) {
      const found = table.find(head, (from, at) =>
        expiryOf(from, at) <= now ? null : { ...keptAnswer(from, at), isSame: hasFingerprint(from, at, head) },
      );
      if (found !== null) return found;
    }
    return null;
  }

  #forget(now: number): void {
    for (const number of this.#generations.keys()) {
      if ((number + 1) * GENERATION_MS <= now) this.#generations.delete(number);
    }
  }
}

/** Most journals have few keys. */
const FIRST_CHUNK_BYTES = 16 * 1024;
const CHUNK_BYTES = 256 * 1024;
const FIRST_CAPACITY = 1024;
/** The least number of places for each record. */
const MOST_FILLED = 1.5;

/**
 * Key records in a few large buffers, found by an open hash table of their places: some 65 bytes a key; objects would
 * need five times that. Grows by doubling its index; only the whole table is removed.
 */
class KeyTable {
  readonly #chunks: Buffer[] = [];
  #used = 0;
  /** Chunk and offset of a record in two words, the chunk from 1; 0 is an empty place. */
  #index = new Uint32Array(FIRST_CAPACITY * 2);
  #capacity = FIRST_CAPACITY;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Replaces an older record of the same key. */
  add(record: Buffer, at = 0): void {
    const length = recordLength(record, at);
    const place = this.#place(record, at);
    const isNew = this.#index[place] === 0;
    const target = this.#room(length);
    record.copy(target, this.#used, at, at + length);
    this.#index[place] = this.#chunks.length;
    this.#index[place + 1] = this.#used;
    this.#used += length;
    if (!isNew) return;
    this.#size += 1;
    if (this.#size * MOST_FILLED > this.#capacity) this.#grow();
  }

  /** Calls `take` with the place of the key's record; null if there is none. */
  find<Found>(key: Buffer, take: (from: Buffer, at: number) => Found): Found | null {
    const place = this.#place(key, 0);
    const chunk = this.#index[place] as number;
    return chunk === 0 ? null : take(this.#chunks[chunk - 1] as Buffer, this.#index[place + 1] as number);
  }

  #room(length: number): Buffer {
    if (this.#used + length > (this.#chunks.at(-1)?.length ?? 0)) {
      const bytes = this.#chunks.length === 0 ? FIRST_CHUNK_BYTES : CHUNK_BYTES;
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(bytes, length)));
      this.#used = 0;
    }
    return this.#chunks.at(-1) as Buffer;
  }

  /** Place of the key, or the first empty place for it. */
  #place(key: Buffer, at: number): number {
    let slot = Math.floor((key.readUInt32LE(at) / 2 ** 32) * this.#capacity);
    for (;;) {
      const place = slot * 2;
      const chunk = this.#index[place] as number;
      if (chunk === 0) return place;
      const offset = this.#index[place + 1] as number;
      if (key.compare(this.#chunks[chunk - 1] as Buffer, offset, offset + KEY_BYTES, at, at + KEY_BYTES) === 0)
        return place;
      slot = slot + 1 === this.#capacity ? 0 : slot + 1;
    }
  }

  #grow(): void {
    const old = this.#index;
    this.#capacity *= 2;
    this.#index = new Uint32Array(this.#capacity * 2);
    for (let at = 0; at < old.length; at += 2) {
      const chunk = old[at] as number;
      if (chunk === 0) continue;
      const offset = old[at + 1] as number;
      const place = this.#place(this.#chunks[chunk - 1] as Buffer, offset);
      this.#index[place] = chunk;
      this.#index[place + 1] = offset;
    }
  }
}
