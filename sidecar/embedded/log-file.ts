import { closeSync, existsSync, openSync, renameSync, statSync, writeSync } from 'node:fs';

const MAX_BYTES = 20 * 1024 * 1024;

/** A log that keeps at most two files of 20 MB: the current one, and the one before it as `NAME.1`. */
export class LogFile {
  readonly #path: string;
  #descriptor: number;
  #bytes: number;
  #isFailing = false;
  readonly #say: (line: string) => void;

  constructor(path: string, say: (line: string) => void) {
    this.#path = path;
    this.#say = say;
    this.#bytes = existsSync(path) ? statSync(path).size : 0;
    this.#descriptor = openSync(path, 'a', 0o600);
  }

  /** Never throws: a full disk, or a file that cannot be renamed, must not stop the game. */
  write(line: string): void {
    try {
      if (this.#bytes > MAX_BYTES) this.#turnOver();
      this.#bytes += writeSync(this.#descriptor, `${line}\n`);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#say(`${this.#path} cannot be written, and lines are lost: ${(error as Error).message}`);
      this.#isFailing = true;
    }
  }

  /** If that fails, the open file goes on, and the next try comes after as much again. */
  #turnOver(): void {
    this.#bytes = 0;
    renameSync(this.#path, `${this.#path}.1`);
    const fresh = openSync(this.#path, 'a', 0o600);
    closeSync(this.#descriptor);
    this.#descriptor = fresh;
  }
}
