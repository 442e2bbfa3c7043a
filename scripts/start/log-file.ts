import { closeSync, existsSync, openSync, renameSync, statSync, writeSync } from 'node:fs';

const MAX_BYTES = 20 * 1024 * 1024;

/** A log that keeps at most two files of 20 MB: the current one, and the one before it as `NAME.1`. */
export class LogFile {
  readonly #path: string;
  #descriptor: number;
  #bytes: number;

  constructor(path: string) {
    this.#path = path;
    this.#bytes = existsSync(path) ? statSync(path).size : 0;
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  write(line: string): void {
    if (this.#bytes > MAX_BYTES) this.#turnOver();
    try {
      this.#bytes += writeSync(this.#descriptor, `${line}\n`);
    } catch (error) {
      // A full disk must not stop the game; the sidecar tells about it itself.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  #turnOver(): void {
    closeSync(this.#descriptor);
    renameSync(this.#path, `${this.#path}.1`);
    this.#descriptor = openSync(this.#path, 'a', 0o600);
    this.#bytes = 0;
  }
}
