import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Bound of text that waits for the disk. Beyond it lines are left out of the file, and their number is reported. */
const MAX_WAITING_CHARS = 8_000_000;

interface Piece {
  readonly name: string;
  text: string;
}

/** Appends to files in the background, in the order of calls, with one write for all gathered text. Never throws, never waits. */
export class LogWriter {
  readonly #folder: string;
  readonly #onTrouble: (message: string) => void;
  #waiting: Piece[] = [];
  #waitingChars = 0;
  #leftOut = 0;
  #isFailing = false;
  #open: { readonly name: string; readonly handle: FileHandle } | null = null;
  #work: Promise<void> | null = null;
  /** Callers that wait for the text appended so far, not for later text. */
  #drained: (() => void)[] = [];

  /** @param onTrouble called once per failure of the disk, and again only after a successful write */
  constructor(folder: string, onTrouble: (message: string) => void) {
    this.#folder = folder;
    this.#onTrouble = onTrouble;
  }

  append(name: string, text: string): void {
    if (this.#waitingChars + text.length > MAX_WAITING_CHARS) {
      this.#leftOut += 1;
      return;
    }
    const last = this.#waiting.at(-1);
    if (last?.name === name) last.text += text;
    else this.#waiting.push({ name, text });
    this.#waitingChars += text.length;
    this.#work ??= this.#run();
  }

  /** Resolves when the text appended so far is written, or has failed. */
  async drain(): Promise<void> {
    if (this.#work !== null) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  async close(): Promise<void> {
    while (this.#work !== null) await this.#work;
    await this.#open?.handle.close().catch(() => {});
    this.#open = null;
  }

  async #run(): Promise<void> {
    // A single write for all lines of a turn of the event loop.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0 || this.#drained.length > 0) {
      const pieces = this.#waiting;
      const drained = this.#drained;
      this.#drained = [];
      this.#waiting = [];
      this.#waitingChars = 0;
      this.#tellLeftOut();
      for (const piece of pieces) await this.#write(piece);
      for (const resolve of drained) resolve();
    }
    this.#work = null;
  }

  async #write(piece: Piece): Promise<void> {
    try {
      const handle = await this.#handleOf(piece.name);
      await handle.appendFile(piece.text);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing)
        this.#onTrouble(`log files cannot be written, and lines are missing there: ${codeOf(error)}`);
      this.#isFailing = true;
    }
  }

  async #handleOf(name: string): Promise<FileHandle> {
    if (this.#open?.name === name) return this.#open.handle;
    const before = this.#open;
    this.#open = null;
    await before?.handle.close().catch(() => {});
    const handle = await open(join(this.#folder, name), 'a', 0o600);
    this.#open = { name, handle };
    return handle;
  }

  #tellLeftOut(): void {
    if (this.#leftOut === 0) return;
    this.#onTrouble(`the disk was too slow: ${this.#leftOut} lines are missing in the log files`);
    this.#leftOut = 0;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}
