import { write } from 'node:fs';
import { Writable } from 'node:stream';

const RETRY_MS = 20;

/** A descriptor of this process as a stream that never blocks it. Bytes for a reader that is gone are dropped. */
export class DescriptorStream extends Writable {
  readonly #descriptor: number;

  constructor(descriptor: number) {
    super();
    this.#descriptor = descriptor;
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    write(this.#descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error !== null && error.code !== 'EAGAIN') return done();
      const rest = bytes.subarray(error === null ? written : 0);
      if (rest.length === 0) return done();
      setTimeout(() => this._write(rest, _encoding, done), error === null ? 0 : RETRY_MS);
    });
  }
}
