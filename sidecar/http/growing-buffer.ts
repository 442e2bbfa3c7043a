/** Chunks joined as they come: many small ones take no more memory than their bytes, up to twice. */
export class GrowingBuffer {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#bytes = chunk;
    } else {
      if (length > this.#bytes.length) this.#grow(length);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** Shares the memory. */
  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(length: number): void {
    const next = Buffer.allocUnsafeSlow(2 * length);
    this.#bytes.copy(next, 0, 0, this.#length);
    this.#bytes = next;
  }
}
