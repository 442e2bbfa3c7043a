const FIRST_BYTES = 16 * 1024;
/** More gets a buffer of its own. */
const MAX_BYTES = 2 * 1024 * 1024;

/**
 * A buffer that is used again and again, and grows with what is written to it. A new buffer for each long text would be garbage
 * outside of the heap: V8 answers a few megabytes of it with a collection of the whole heap, which the game's thread waits for.
 */
export class Scratch {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);

  /** At least so many bytes, which hold what was written before; good until the next call. */
  of(bytes: number): Buffer {
    if (bytes > MAX_BYTES) return Buffer.allocUnsafeSlow(bytes);
    if (bytes > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
    return this.#buffer;
  }
}
