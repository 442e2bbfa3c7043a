import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { INT64_MAX } from '#protocol/limits.ts';
import {
  canConvert,
  converted,
  numberColumn,
  type Physical,
  scaledOfWide,
  WIDE_SUM_PRECISION,
  wideText,
} from '../dialect.ts';
import { monotonicMs } from './monotonic.ts';

/** Reading the clock costs as much as a function call; with more calls between, rows of a megabyte would overrun. */
const CALLS_PER_CLOCK = 32;

/** Deadline of a statement: SQLite calls the guard once per row; its exception ends and undoes the statement. */
export class DeadlineGuard {
  #deadline = Number.POSITIVE_INFINITY;
  #calls = 0;

  arm(deadline: number): void {
    this.#deadline = deadline;
    this.#calls = 0;
  }

  check(): void {
    if (monotonicMs() >= this.#deadline) {
      throw new ApiError('database_timeout', 'the statement took too long and was ended; it changed nothing');
    }
  }

  /** Cheaper than `check`; for every row. */
  tick(): void {
    if (++this.#calls % CALLS_PER_CLOCK === 0) this.check();
  }
}

/**
 * Functions for compiled statements. Views and triggers cannot call them, so a file from another source cannot use them.
 *
 * | Function | Returns |
 * |---|---|
 * | `guard()` | 1, or ends the statement at its deadline |
 * | `guard_now()` | the same, and reads the clock at every call: for one row of many |
 * | `sum_wide(value)` | exact sum of wide decimals, in the same form with `WIDE_SUM_PRECISION` digits |
 * | `inc_int(current, amount, min, max)` | exact sum of integers; amount, min and max as text |
 * | `inc_wide(current, amount, precision)` | exact sum of wide decimals; amount scaled, as text |
 * | `inc_float(current, amount)` | finite sum of doubles |
 * | `contains_text(text, part)` | 1 or 0, or ends the statement at its deadline |
 * | `listed_float(value, list)` | 1 or 0; list is JSON text |
 * | `fits_number(value, from, to)` | 1 or 0: whether a stored number fits another column; both as `numberText` |
 * | `convert_number(value, from, to)` | the number in the form of the other column |
 * | `random_uuid()` | a random UUID, another one in each row |
 */
export function registerFunctions(db: Database, guard: DeadlineGuard): void {
  const options = { deterministic: false, directOnly: true };
  const exact = { ...options, safeIntegers: true };
  db.function('guard', options, () => {
    guard.tick();
    return 1;
  });
  db.function('guard_now', options, () => {
    guard.check();
    return 1;
  });
  db.aggregate<bigint | string | null>('sum_wide', {
    ...options,
    start: () => null,
    step: (sum, next) => {
      guard.tick();
      if (next === null) return sum;
      const text = String(next);
      return BigInt(sum ?? 0) + scaledOfWide(text, text.length - 1);
    },
    result: (sum) => (sum === null ? null : wideText(BigInt(sum), WIDE_SUM_PRECISION)),
  });
  db.function('inc_int', exact, (current: bigint | null, amount: string, min: string, max: string) => {
    guard.tick();
    return bounded((current ?? 0n) + constant(amount), constant(min), constant(max));
  });
  db.function('inc_wide', exact, (current: string | null, amount: string, precision: bigint) => {
    guard.tick();
    const digits = Number(precision);
    const limit = 10n ** precision - 1n;
    const scaled = current === null ? 0n : scaledOfWide(current, digits);
    return wideText(bounded(scaled + constant(amount), -limit, limit), digits);
  });
  db.function('inc_float', options, (current: number | null, amount: number) => {
    guard.tick();
    const sum = (current ?? 0) + amount;
    if (!Number.isFinite(sum)) throw outOfRange();
    return sum === 0 ? 0 : sum;
  });
  db.function('contains_text', options, (text: string | null, part: string) => {
    guard.tick();
    return text === null ? null : Number(containsPart(text, part, guard));
  });
  const lists = new Map<string, ReadonlySet<number>>();
  db.function('listed_float', options, (value: number | null, list: string) =>
    value === null ? null : Number(floatsOf(lists, list).has(value)),
  );
  registerChangeFunctions(db);
}

/** Functions of schema changes. */
function registerChangeFunctions(db: Database): void {
  const exact = { deterministic: true, directOnly: true, safeIntegers: true };
  const columns = new Map<string, Column>();
  const columnOf = (text: string): Column => {
    const column = columns.get(text) ?? numberColumn(text);
    if (columns.size >= COLUMNS_KEPT) columns.clear();
    columns.set(text, column);
    return column;
  };
  db.function('fits_number', exact, (value: Physical, from: string, to: string) =>
    canConvert(columnOf(from), columnOf(to), value) ? 1 : 0,
  );
  db.function('convert_number', exact, (value: Physical, from: string, to: string) =>
    converted(columnOf(from), columnOf(to), value),
  );
  db.function('random_uuid', { deterministic: false, directOnly: true }, () => randomUUID());
}

function outOfRange(): ApiError {
  return new ApiError('invalid_value', 'inc: the result is out of the range of its column; nothing was changed');
}

function bounded(sum: bigint, min: bigint, max: bigint): bigint {
  if (sum < min || sum > max) throw outOfRange();
  return sum;
}

/** Characters searched between two readings of the clock: some milliseconds for the slowest part. */
const PIECE_CHARS = 65_536;

function containsPart(text: string, part: string, guard: DeadlineGuard): boolean {
  const overlap = part.length - 1;
  if (text.length <= PIECE_CHARS + overlap) return text.includes(part);
  for (let from = 0; from + overlap < text.length; from += PIECE_CHARS) {
    guard.check();
    if (text.slice(from, from + PIECE_CHARS + overlap).includes(part)) return true;
  }
  return false;
}

const CONSTANTS_KEPT = 64;
const constants = new Map<string, bigint>([[INT64_MAX.toString(), INT64_MAX]]);

/** Amounts and bounds are the same for every row of a statement. */
function constant(text: string): bigint {
  let value = constants.get(text);
  if (value === undefined) {
    if (constants.size >= CONSTANTS_KEPT) constants.clear();
    value = BigInt(text);
    constants.set(text, value);
  }
  return value;
}

const COLUMNS_KEPT = 64;
const LISTS_KEPT = 128;

function floatsOf(lists: Map<string, ReadonlySet<number>>, text: string): ReadonlySet<number> {
  let floats = lists.get(text);
  if (floats === undefined) {
    if (lists.size >= LISTS_KEPT) lists.clear();
    floats = new Set(JSON.parse(text) as number[]);
    lists.set(text, floats);
  }
  return floats;
}
