import { PageBuilder } from '../../model/page.ts';
import type { Page } from '../../rows.ts';
import type { Connection } from '../connection.ts';
import type { AggregateRanges, FindCall } from '../worker/messages.ts';

/** Rows of the first range, and the fewest and the most of any. */
const FIRST_ROWS = 1024;
const MIN_ROWS = 64;
const MAX_ROWS = 16_384;
/** A quicker range makes the next one twice as large, a slower one a quarter. */
const QUICK_MS = 4;
const SLOW_MS = 20;
/** With more groups the whole statement is as quick, and takes no memory here. */
export const MAX_GROUPS = 2000;

const FIRST_ID = -(2n ** 63n);
const LAST_ID = 2n ** 63n - 1n;

/** As SQLite returns it with safe integers; no blob can be a group, a sum, or compared. */
type Scalar = null | bigint | number | string;

/**
 * An aggregate over a whole table in ranges of row ids: a range fits the cache where SQLite would sort the whole table, and
 * the deadline is looked at between ranges instead of in rows. Null if there are too many groups.
 * @throws SqliteError `integer overflow` if a sum of one range is past 64 bits
 */
export function aggregateRanges(connection: Connection, call: FindCall, ranges: AggregateRanges): Page | null {
  const next = connection.statement(ranges.next).prepared.safeIntegers();
  const part = connection.statement(ranges.part);
  const rowsOfRange = part.prepared.safeIntegers();
  const groups = new Groups(ranges);
  let rows = FIRST_ROWS;
  for (let first: bigint | null = FIRST_ID; first !== null; ) {
    connection.guard.check();
    const begunAtMs = performance.now();
    const after = next.get(first, rows) as readonly bigint[] | undefined;
    const last: bigint = after === undefined ? LAST_ID : (after[0] as bigint) - 1n;
    if (!groups.add(rowsOfRange.all(first, last) as Scalar[][])) return null;
    first = after?.[0] ?? null;
    const tookMs = performance.now() - begunAtMs;
    if (tookMs < QUICK_MS) rows = Math.min(2 * rows, MAX_ROWS);
    else if (tookMs > SLOW_MS) rows = Math.max(rows >> 2, MIN_ROWS);
  }
  const page = new PageBuilder(call.limit, call.maxBytes);
  for (const row of groups.sorted().slice(ranges.offset, ranges.offset + call.limit + 1)) {
    if (!page.add(() => part.writer.write(row))) break;
  }
  return page.page();
}

/** Rows of the answer, merged from those of all ranges. */
class Groups {
  readonly #ranges: AggregateRanges;
  readonly #rows = new Map<Scalar, Scalar[]>();

  constructor(ranges: AggregateRanges) {
    this.#ranges = ranges;
  }

  /** False if there are too many. */
  add(rows: readonly Scalar[][]): boolean {
    const { merges, groups } = this.#ranges;
    for (const row of rows) {
      const key = groups === 1 ? (row[0] as Scalar) : keyOf(row.slice(0, groups));
      const known = this.#rows.get(key);
      if (known === undefined) this.#rows.set(key, row);
      else for (const [i, merge] of merges.entries()) mergeInto(known, groups + i, row[groups + i] ?? null, merge);
    }
    return this.#rows.size <= MAX_GROUPS;
  }

  sorted(): Scalar[][] {
    const { sort } = this.#ranges;
    return [...this.#rows.values()].sort((a, b) => {
      for (const { output, dir } of sort) {
        const order = compare(a[output] ?? null, b[output] ?? null);
        if (order !== 0) return dir === 'asc' ? order : -order;
      }
      return 0;
    });
  }
}

function keyOf(group: readonly Scalar[]): string {
  return JSON.stringify(group.map((value) => (typeof value === 'bigint' ? { n: String(value) } : value)));
}

function mergeInto(row: Scalar[], at: number, more: Scalar, merge: AggregateRanges['merges'][number]): void {
  const value = row[at] ?? null;
  if (more === null) return;
  if (value === null) row[at] = more;
  // Sums of a range are integers.
  else if (merge === 'sum') row[at] = (value as bigint) + (more as bigint);
  else if (compare(more, value) < 0 === (merge === 'min')) row[at] = more;
}

/** The order of SQLite: NULL first, numbers by value, texts by their bytes. */
function compare(a: Scalar, b: Scalar): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : Number(a > b);
}
