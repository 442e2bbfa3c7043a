import { compareNames } from '#panel/shapes/by-name.ts';
import type { ConsoleLine } from '#panel/shapes/console.ts';
import { type Entry, entryOf, missingEntry } from './entry.ts';

export const MAX_LINES = 20_000;
/** Bound for all lines together: twenty thousand of the longest would be hundreds of megabytes in a phone. */
const MAX_CHARS = 16_000_000;

/** The newest lines in the order of their numbers, each once. Events and answers may bring the same line; it counts once. */
export class LineBuffer {
  #entries = new Tail<Entry>();
  readonly #limit: number;
  readonly #maxChars: number;
  #chars = 0;
  #epoch = 0;

  constructor(limit = MAX_LINES, maxChars = MAX_CHARS) {
    this.#limit = limit;
    this.#maxChars = maxChars;
  }

  /** Numbers of the entries, which change only with the epoch. */
  get entries(): Tail<Entry> {
    return this.#entries;
  }

  /** Changes when a line came in elsewhere than at the end: numbers kept by readers are no longer valid. */
  get epoch(): number {
    return this.#epoch;
  }

  get firstSeq(): number | null {
    return this.#entries.at(this.#entries.start)?.seq ?? null;
  }

  get lastSeq(): number | null {
    return this.#entries.at(this.#entries.end - 1)?.seq ?? null;
  }

  add(lines: readonly ConsoleLine[]): void {
    const sorted = isSorted(lines) ? lines : lines.toSorted((a, b) => a.seq - b.seq);
    if (sorted.length === 0) return;
    if ((sorted[0]?.seq ?? 0) <= (this.lastSeq ?? -1)) this.#merge(sorted);
    else this.#append(sorted);
    this.#trim();
  }

  /** Lines that will not come: the server had to skip them for this reader. */
  addGap(from: number, to: number): void {
    const known = this.lastSeq ?? -1;
    if (to <= known) return;
    const time = this.#entries.at(this.#entries.end - 1)?.time ?? '';
    this.#push(missingEntry(Math.max(from, known + 1), to, time));
    this.#trim();
  }

  #append(lines: readonly ConsoleLine[]): void {
    let last = -1;
    for (const line of lines) {
      if (line.seq !== last) this.#push(entryOf(line));
      last = line.seq;
    }
  }

  #merge(lines: readonly ConsoleLine[]): void {
    const known: Entry[] = [];
    const seen = new Set<number>();
    for (let number = this.#entries.start; number < this.#entries.end; number++) {
      const entry = this.#entries.at(number) as Entry;
      known.push(entry);
      if (entry.missingFrom === null) seen.add(entry.seq);
    }
    const fresh = lines.filter((line) => !seen.has(line.seq) && seen.add(line.seq)).map(entryOf);
    if (fresh.length === 0) return;
    const gaps = known.flatMap((entry) => (entry.missingFrom === null ? [] : shrinkGap(entry, lines)));
    const all = [...known.filter((entry) => entry.missingFrom === null), ...gaps, ...fresh];
    all.sort((a, b) => a.seq - b.seq);
    this.#entries = new Tail();
    this.#chars = 0;
    for (const entry of all) this.#push(entry);
    this.#epoch++;
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#chars += entry.text.length;
  }

  #trim(): void {
    while (this.#entries.length > this.#limit || this.#chars > this.#maxChars) {
      this.#chars -= this.#entries.at(this.#entries.start)?.text.length ?? 0;
      this.#entries.cutBefore(this.#entries.start + 1);
    }
  }
}

function isSorted(lines: readonly ConsoleLine[]): boolean {
  return lines.every((line, index) => index === 0 || (lines[index - 1]?.seq ?? 0) < line.seq);
}

/** Lines come in runs without holes: from the first of them on nothing is missing any more, up to their last. */
function shrinkGap(gap: Entry, lines: readonly ConsoleLine[]): Entry[] {
  const first = lines[0]?.seq ?? 0;
  const last = lines.at(-1)?.seq ?? 0;
  const from = gap.missingFrom ?? gap.seq;
  if (last < from || first > gap.seq) return [gap];
  return [
    ...(first > from ? [missingEntry(from, first - 1, gap.time)] : []),
    ...(last < gap.seq ? [missingEntry(last + 1, gap.seq, gap.time)] : []),
  ];
}

/** A list that grows at its end and is cut at its start. What is in it keeps its number (`start` to `end - 1`) for ever. */
export class Tail<Item> {
  #items: Item[] = [];
  #cut = 0;
  #start = 0;

  get start(): number {
    return this.#start;
  }

  get end(): number {
    return this.#start + this.#items.length - this.#cut;
  }

  get length(): number {
    return this.#items.length - this.#cut;
  }

  at(number: number): Item | undefined {
    return number < this.#start ? undefined : this.#items[number - this.#start + this.#cut];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Forgets everything before this number. */
  cutBefore(number: number): void {
    const count = Math.min(Math.max(0, number - this.#start), this.length);
    this.#cut += count;
    this.#start += count;
    // The array is copied seldom: once its forgotten part is as large as the rest.
    if (this.#cut > 1024 && this.#cut > this.#items.length / 2) {
      this.#items = this.#items.slice(this.#cut);
      this.#cut = 0;
    }
  }

  /** The first number whose item is at or beyond what is looked for; `end` where there is none. Items are in order. */
  search(isBeyond: (item: Item) => boolean): number {
    let low = this.start;
    let high = this.end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (isBeyond(this.at(middle) as Item)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** A hostile server may name ten thousand. */
const MAX_SOURCES = 200;

const known = new WeakMap<LineBuffer, { epoch: number; read: number; names: Set<string>; sorted: readonly string[] }>();

/** Names that lines bear, in order; each line is looked at once. */
export function sourcesOf(buffer: LineBuffer): readonly string[] {
  const { entries, epoch } = buffer;
  let state = known.get(buffer);
  if (state === undefined || state.epoch !== epoch) {
    state = { epoch, read: entries.start, names: new Set(), sorted: [] };
    known.set(buffer, state);
  }
  const before = state.names.size;
  for (let number = Math.max(state.read, entries.start); number < entries.end; number++) {
    const source = entries.at(number)?.source ?? '';
    if (source !== '' && state.names.size < MAX_SOURCES) state.names.add(source);
  }
  state.read = entries.end;
  if (state.names.size !== before) state.sorted = [...state.names].sort(compareNames);
  return state.sorted;
}

/** Lines that came after this one. */
export function newLines(buffer: LineBuffer, seq: number): number {
  return buffer.entries.end - buffer.entries.search((entry) => entry.seq > seq);
}
