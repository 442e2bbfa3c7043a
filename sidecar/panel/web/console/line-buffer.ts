import type { ConsoleLine } from '#panel/shapes/console.ts';
import { type Entry, entryOf, missingEntry } from './entry.ts';
import { Tail } from './tail.ts';

export const MAX_LINES = 20_000;
/** Of all lines together: twenty thousand of the longest would be hundreds of megabytes in somebody's phone. */
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

  /** Changes when something came in elsewhere than at the end: whoever keeps numbers begins anew. */
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
