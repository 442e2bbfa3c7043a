import type { QueuedEntry } from '../engine/queues.ts';

const MAX_ENTRIES = 100_000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Entries as they were compiled when they were accepted, so that what is applied soon is neither read back nor parsed a
 * second time. The oldest ones stay when there is no room, as they are applied first.
 */
export class RecentEntries {
  readonly #entries = new Map<number, { readonly entry: QueuedEntry; readonly bytes: number }>();
  #bytes = 0;

  put(entry: QueuedEntry, bytes: number): void {
    if (this.#entries.size >= MAX_ENTRIES || this.#bytes + bytes > MAX_BYTES) return;
    this.#entries.set(entry.position, { entry, bytes });
    this.#bytes += bytes;
  }

  get(position: number): QueuedEntry | null {
    return this.#entries.get(position)?.entry ?? null;
  }

  forget(position: number): void {
    const known = this.#entries.get(position);
    if (known === undefined) return;
    this.#entries.delete(position);
    this.#bytes -= known.bytes;
  }
}
