import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Numbers reserved by one write of the file. */
const BLOCK = 10_000;

/**
 * Numbers that are never used twice, also after a kill: the file holds a number above all used ones, and is written before
 * that number is used. A clean end writes the exact number, so that numbers are skipped only after a kill.
 */
export class Sequence {
  readonly #file: string;
  #next: number;
  #allowed: number;

  /** @param lastWritten the largest number in the logs; 0 if there is none */
  constructor(file: string, lastWritten: number) {
    this.#file = file;
    const kept = readKept(file);
    // Logs without a readable file: fewer numbers than a block were used and not written.
    this.#next = kept === null && lastWritten > 0 ? lastWritten + BLOCK : Math.max(lastWritten + 1, kept ?? 1);
    this.#allowed = this.#next;
  }

  /** The last used number. */
  get last(): number {
    return this.#next - 1;
  }

  next(): number {
    if (this.#next >= this.#allowed) {
      this.#allowed = this.#next + BLOCK;
      this.#keep(this.#allowed);
    }
    this.#next += 1;
    return this.#next - 1;
  }

  close(): void {
    if (this.#allowed > this.#next) this.#keep(this.#next);
    this.#allowed = this.#next;
  }

  /** A full disk must not stop the console; after a restart the numbers then continue from the logs. */
  #keep(number: number): void {
    try {
      writeFileSync(`${this.#file}.new`, `${number}\n`, { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch {
      // The lines cannot be written either, and LogWriter reports that.
    }
  }
}

function readKept(file: string): number | null {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  } catch {
    return null;
  }
}
