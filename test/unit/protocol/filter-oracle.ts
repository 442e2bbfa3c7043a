import type { Filter } from '#protocol/filter.ts';
import type { Value } from '#protocol/values.ts';

/** SQL's three values. */
export type Truth = boolean | null;

/** A filter as SQL means it, on logical values: the plainest evaluation, to be compared with anything cleverer. */
export function evaluate(filter: Filter, row: ReadonlyMap<string, Value>): Truth {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const decisive = filter.kind === 'or';
      const truths = filter.filters.map((member) => evaluate(member, row));
      if (truths.includes(decisive)) return decisive;
      return truths.includes(null) ? null : !decisive;
    }
    case 'not': {
      const truth = evaluate(filter.filter, row);
      return truth === null ? null : !truth;
    }
    case 'null':
      return (heldBy(row, filter.column.name) === null) !== filter.negated;
    default:
      return evaluatePresent(filter, heldBy(row, filter.column.name));
  }
}

function heldBy(row: ReadonlyMap<string, Value>, name: string): Value {
  const value = row.get(name);
  if (value === undefined) throw new Error(`the row has no ${name}`);
  return value;
}

function evaluatePresent(filter: Exclude<Filter, { kind: 'and' | 'or' | 'not' | 'null' }>, held: Value): Truth {
  if (held === null) return null;
  const { type } = filter.column;
  switch (filter.kind) {
    case 'constant':
      return filter.value;
    case 'text':
      if (typeof held !== 'string') throw new Error('no text');
      return filter.op === 'contains' ? held.includes(filter.value) : held.startsWith(filter.value);
    case 'in':
      return filter.values.some((value) => compareValues(type, held, value) === 0) !== filter.negated;
    case 'compare':
      return isMet(filter.op, compareValues(type, held, filter.value));
  }
}

export function isMet(op: string, order: number): boolean {
  switch (op) {
    case 'eq':
      return order === 0;
    case 'ne':
      return order !== 0;
    case 'gt':
      return order > 0;
    case 'gte':
      return order >= 0;
    case 'lt':
      return order < 0;
    case 'lte':
      return order <= 0;
    default:
      throw new Error(`no comparison: ${op}`);
  }
}

function compareValues(type: string, a: Value, b: Value): number {
  if (type === 'decimal') return compareNumberTexts(String(a), String(b));
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a !== typeof b || a === null || b === null) throw new Error(`${typeof a} against ${typeof b}`);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By code points, which is the order of UTF-8 bytes; half a surrogate pair counts as the code point that it is. */
export function compareTexts(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (const [i, character] of left.entries()) {
    const other = right[i];
    if (other === undefined) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length === right.length ? 0 : -1;
}

/** Exact, by fractions of big integers. */
export function compareNumberTexts(a: string, b: string): number {
  const [[p, q], [r, s]] = [fractionOf(a), fractionOf(b)];
  const difference = p * s - r * q;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function fractionOf(text: string): readonly [bigint, bigint] {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (match === null) throw new Error(`no number: ${text}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent) - fraction.length;
  const mantissa = BigInt(sign + whole + fraction);
  return shift >= 0 ? [mantissa * 10n ** BigInt(shift), 1n] : [mantissa, 10n ** BigInt(-shift)];
}
