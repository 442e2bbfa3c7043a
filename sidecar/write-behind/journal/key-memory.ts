import type { KeySlot } from './entries.ts';
import { expiryOf, hasFingerprint, type KeptAnswer, keptAnswer, keyHead } from './key-record.ts';
import { KeyTable } from './key-table.ts';

/** Keys are forgotten in tables of so long a time of expiry. */
const GENERATION_MS = 60_000;

export interface KnownKey extends KeptAnswer {
  readonly isSame: boolean;
}

/** The keys of the last minutes. Forgetting is dropping a whole table of those that expired by then. */
export class KeyMemory {
  readonly #generations = new Map<number, KeyTable>();

  get size(): number {
    let size = 0;
    for (const table of this.#generations.values()) size += table.size;
    return size;
  }

  /** One that expired already is not kept. */
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
