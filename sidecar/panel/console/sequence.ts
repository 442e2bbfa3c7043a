import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Numbers that one write of the file allows. */
const BLOCK = 10_000;

/**
 * Numbers that never start again, also after a kill: the file holds a number that none given out so far reaches, and is
 * written before that one is given out. A clean end writes the exact one, so that numbers are skipped only after a kill.
 */
export class Sequence {
  readonly #file: string;
  #next: number;
  #allowed: number;

  /** `lastWritten`: the largest number that the logs hold; 0 without any. */
  constructor(file: string, lastWritten: number) {
    this.#file = file;
    const kept = readKept(file);
    // Lines are in the logs, but the file is not to be read: what was given out and not yet written is less than a block.
    this.#next = kept === null && lastWritten > 0 ? lastWritten + BLOCK : Math.max(lastWritten + 1, kept ?? 1);
    this.#allowed = this.#next;
  }

  /** The number given out last. */
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

  /** A full disk must not stop the console; then the numbers go on from the logs. */
  #keep(number: number): void {
    try {
      writeFileSync(`${this.#file}.new`, `${number}\n`, { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch {
      // The lines themselves cannot be written either then, and LogWriter tells so.
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
