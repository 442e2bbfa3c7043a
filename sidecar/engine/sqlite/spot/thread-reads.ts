import { closeSync, openSync, readSync } from 'node:fs';

const MAX_BYTES = 512;
const LABEL = 'read_bytes: ';

/**
 * Bytes that the thread which opened it has caused to be read from a disk (Linux: `/proc/thread-self/io`). A read from
 * memory does not count, however long a busy machine takes for it.
 */
export class ThreadReads {
  readonly #file: number;
  readonly #buffer = Buffer.allocUnsafe(MAX_BYTES);
  #seen: number;

  private constructor(file: number) {
    this.#file = file;
    this.#seen = this.#read();
  }

  /** Null on a system that does not count them. */
  static open(): ThreadReads | null {
    let file: number | null = null;
    try {
      file = openSync('/proc/thread-self/io', 'r');
      return new ThreadReads(file);
    } catch {
      if (file !== null) closeSync(file);
      return null;
    }
  }

  /** Whether the thread has read from a disk since this was asked last. True if the count cannot be read any more. */
  hasMore(): boolean {
    try {
      const bytes = this.#read();
      const hasMore = bytes > this.#seen;
      this.#seen = bytes;
      return hasMore;
    } catch {
      return true;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(): number {
    const text = this.#buffer.toString('latin1', 0, readSync(this.#file, this.#buffer, 0, MAX_BYTES, 0));
    const at = text.indexOf(`\n${LABEL}`);
    const bytes = at < 0 ? Number.NaN : Number.parseInt(text.slice(at + 1 + LABEL.length), 10);
    if (Number.isNaN(bytes)) throw new Error('the kernel does not count reads of threads');
    return bytes;
  }
}
