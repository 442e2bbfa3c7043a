import type { LogLine } from './line-text.ts';

/** The latest lines in memory, bounded by number and by characters. */
export class LineRing<Line extends LogLine> {
  readonly #maxLines: number;
  readonly #maxChars: number;
  readonly #slots: (Line | undefined)[];
  #first = 0;
  #count = 0;
  #chars = 0;

  constructor(maxLines: number, maxChars: number) {
    this.#maxLines = maxLines;
    this.#maxChars = maxChars;
    this.#slots = new Array(maxLines);
  }

  get size(): number {
    return this.#count;
  }

  /** null if the ring is empty. */
  get oldestSeq(): number | null {
    return this.#count === 0 ? null : this.#at(0).seq;
  }

  /** The line's number must be larger than all before. */
  push(line: Line): void {
    if (this.#count === this.#maxLines) this.#dropOldest();
    this.#slots[(this.#first + this.#count) % this.#maxLines] = line;
    this.#count += 1;
    this.#chars += line.text.length;
    while (this.#chars > this.#maxChars && this.#count > 1) this.#dropOldest();
  }

  latest(count: number): Line[] {
    return this.#slice(Math.max(0, this.#count - count), this.#count);
  }

  /** The first `limit` lines with a larger number. */
  after(seq: number, limit: number): Line[] {
    const from = this.#indexAfter(seq);
    return this.#slice(from, Math.min(this.#count, from + limit));
  }

  /** The last `limit` lines with a smaller number, oldest first. */
  before(seq: number, limit: number): Line[] {
    const to = this.#indexAfter(seq - 1);
    return this.#slice(Math.max(0, to - limit), to);
  }

  #indexAfter(seq: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#at(middle).seq > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #slice(from: number, to: number): Line[] {
    const lines: Line[] = [];
    for (let index = from; index < to; index += 1) lines.push(this.#at(index));
    return lines;
  }

  #at(index: number): Line {
    return this.#slots[(this.#first + index) % this.#maxLines] as Line;
  }

  #dropOldest(): void {
    this.#chars -= this.#at(0).text.length;
    this.#slots[this.#first] = undefined;
    this.#first = (this.#first + 1) % this.#maxLines;
    this.#count -= 1;
  }
}
