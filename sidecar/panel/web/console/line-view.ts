import type { Entry } from './entry.ts';
import { type LineBuffer, Tail } from './line-buffer.ts';
import { EVERYTHING, isMatch, isWanted, type LineFilter, searchPattern } from './line-query.ts';
import { rowCount, shownText } from './row-layout.ts';

interface Placed {
  readonly entry: Entry;
  /** Row after its last one, counted since the view was laid out. */
  readonly endRow: number;
}

/**
 * Shown part of a buffer: the wanted entries and the rows that they take. `sync` brings it up to date and costs what has come
 * in since, not what is there. Numbers of entries and rows stay as they are while entries fall out at the start.
 */
export class LineView {
  readonly #buffer: LineBuffer;
  #filter: LineFilter = EVERYTHING;
  #pattern: RegExp | null = null;
  #columns = Number.POSITIVE_INFINITY;
  #placed = new Tail<Placed>();
  #matches = new Tail<number>();
  #rows = 0;
  #epoch = -1;
  #read = 0;
  #until = Number.POSITIVE_INFINITY;

  constructor(buffer: LineBuffer) {
    this.#buffer = buffer;
  }

  get columns(): number {
    return this.#columns;
  }

  get pattern(): RegExp | null {
    return this.#pattern;
  }

  get start(): number {
    return this.#placed.start;
  }

  get end(): number {
    return this.#placed.end;
  }

  get length(): number {
    return this.#placed.length;
  }

  get firstRow(): number {
    const first = this.#placed.at(this.#placed.start);
    return first === undefined ? this.#rows : first.endRow - this.#rowsOf(first.entry);
  }

  get endRow(): number {
    return this.#rows;
  }

  /** Numbers of the entries that the search finds. */
  get matches(): Tail<number> {
    return this.#matches;
  }

  /** Infinite columns leave every line on one row. */
  layOut(filter: LineFilter, columns: number): void {
    this.#filter = filter;
    this.#pattern = searchPattern(filter.search);
    this.#columns = columns;
    this.#epoch = -1;
    this.sync();
  }

  /** Nothing beyond this sequence number is shown; null lets go again. */
  freeze(seq: number | null): void {
    this.#until = seq ?? Number.POSITIVE_INFINITY;
  }

  /** False if numbers and rows started again. */
  sync(): boolean {
    const { entries, epoch } = this.#buffer;
    const goesOn = epoch === this.#epoch;
    if (!goesOn) this.#reset(epoch, entries.start);
    this.#read = Math.max(this.#read, entries.start);
    for (; this.#read < entries.end; this.#read++) {
      const entry = entries.at(this.#read) as Entry;
      if (entry.seq > this.#until) break;
      this.#place(entry);
    }
    const firstSeq = this.#buffer.firstSeq;
    if (firstSeq !== null) this.#placed.cutBefore(this.#placed.search((placed) => placed.entry.seq >= firstSeq));
    this.#matches.cutBefore(this.#matches.search((number) => number >= this.#placed.start));
    return goesOn;
  }

  entryAt(number: number): Entry | undefined {
    return this.#placed.at(number)?.entry;
  }

  rowOf(number: number): number {
    const placed = this.#placed.at(number);
    return placed === undefined ? this.#rows : placed.endRow - this.#rowsOf(placed.entry);
  }

  rowsAt(number: number): number {
    const placed = this.#placed.at(number);
    return placed === undefined ? 0 : this.#rowsOf(placed.entry);
  }

  numberAtRow(row: number): number {
    return this.#placed.search((placed) => placed.endRow > row);
  }

  /** The entry with this sequence number, or the next one that is shown. */
  numberOfSeq(seq: number): number {
    return this.#placed.search((placed) => placed.entry.seq >= seq);
  }

  #reset(epoch: number, read: number): void {
    this.#placed = new Tail();
    this.#matches = new Tail();
    this.#rows = 0;
    this.#epoch = epoch;
    this.#read = read;
  }

  #place(entry: Entry): void {
    if (!isWanted(entry, this.#filter, this.#pattern)) return;
    if (this.#pattern !== null && isMatch(entry, this.#pattern)) this.#matches.push(this.#placed.end);
    this.#rows += this.#rowsOf(entry);
    this.#placed.push({ entry, endRow: this.#rows });
  }

  #rowsOf(entry: Entry): number {
    return rowCount(shownText(entry.plain), this.#columns);
  }
}
