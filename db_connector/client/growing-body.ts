const NO_BYTES = Buffer.alloc(0);

/** A body as it arrives. Many small chunks take at most twice the memory of their bytes, which chunks of one byte would exceed a hundredfold. */
export class GrowingBody {
  #buffer: Buffer = NO_BYTES;
  #length = 0;
  #expected = 0;

  /** Announced length; only the bytes that arrive are believed. */
  expect(bytes: number): void {
    this.#expected = bytes;
  }

  get bytes(): Buffer {
    return this.#buffer.length === this.#length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (this.#length === 0) {
      this.#buffer = chunk;
    } else {
      if (length > this.#buffer.length) this.#grow(length);
      chunk.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  /** Memory that is reserved and not written costs nothing: the system gives it page by page. */
  #grow(length: number): void {
    const bytes = length <= this.#expected ? this.#expected : 2 * length;
    const grown = Buffer.allocUnsafeSlow(bytes);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
