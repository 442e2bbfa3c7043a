import type { Readable } from 'node:stream';

/** Lines of a burst that is read at once; a server that never stops printing waits for its reader. */
const BURST_LINES = 100_000;
const LINES_PER_SECOND = 10_000;
/** Bytes that count as one line. */
const LINE_BYTES = 400;
const PAUSE_MS = 50;

/**
 * Bounds the time that a flood of output takes of this thread, which serves the database too. No line is dropped: the pipe
 * fills, and the server waits as it would for a terminal.
 */
export class OutputBrake {
  readonly #streams: readonly Readable[];
  #budget = BURST_LINES;
  #filledAt = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isHeld = false;

  constructor(streams: readonly Readable[]) {
    this.#streams = streams;
  }

  /** Counts output that was read. */
  note(lines: number, bytes: number): void {
    this.#refill();
    this.#budget -= Math.max(lines, bytes / LINE_BYTES);
    if (this.#budget < 0 && this.#timer === undefined) this.#pause();
  }

  /** Reads nothing while it is held: the reader of the lines has no room for more. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (isHeld) for (const stream of this.#streams) stream.pause();
    else if (this.#timer === undefined) this.release();
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isHeld) for (const stream of this.#streams) stream.resume();
  }

  #pause(): void {
    for (const stream of this.#streams) stream.pause();
    this.#timer = setTimeout(() => {
      this.#refill();
      this.#timer = undefined;
      if (this.#budget < 0) this.#pause();
      else this.release();
    }, PAUSE_MS);
  }

  #refill(): void {
    const now = performance.now();
    this.#budget = Math.min(BURST_LINES, this.#budget + ((now - this.#filledAt) / 1000) * LINES_PER_SECOND);
    this.#filledAt = now;
  }
}
