/**
 * Filters and sorting as the contract defines them, evaluated on plain values. Imports nothing of what it judges.
 * Integers and decimals are compared as bigints of one scale, text by its UTF-8 bytes.
 */
export type Plain = null | boolean | number | bigint | string;
export type PlainRow = Readonly<Record<string, Plain>>;

export type PlainFilter =
  | { readonly field: string; readonly op: string; readonly value?: unknown }
  | { readonly and: readonly PlainFilter[] }
  | { readonly or: readonly PlainFilter[] }
  | { readonly not: PlainFilter };

/** True, false, or null for unknown. Values in the filter are plain already. */
export function matches(filter: PlainFilter, row: PlainRow): boolean | null {
  if ('and' in filter) return conjunction(filter.and.map((member) => matches(member, row)));
  if ('or' in filter) return negation(conjunction(filter.or.map((member) => negation(matches(member, row)))));
  if ('not' in filter) return negation(matches(filter.not, row));
  const actual = row[filter.field] ?? null;
  if (filter.op === 'isNull') return (actual === null) === (filter.value ?? true);
  if (filter.value === null) return (actual === null) === (filter.op === 'eq');
  if (actual === null) return null;
  return condition(filter.op, actual, filter.value);
}

function condition(op: string, actual: Exclude<Plain, null>, value: unknown): boolean {
  switch (op) {
    case 'eq':
      return order(actual, value as Plain) === 0;
    case 'ne':
      return order(actual, value as Plain) !== 0;
    case 'gt':
      return order(actual, value as Plain) > 0;
    case 'gte':
      return order(actual, value as Plain) >= 0;
    case 'lt':
      return order(actual, value as Plain) < 0;
    case 'lte':
      return order(actual, value as Plain) <= 0;
    case 'in':
      return (value as unknown[]).some((item) => order(actual, item as Plain) === 0);
    case 'nin':
      return (value as unknown[]).every((item) => order(actual, item as Plain) !== 0);
    case 'startsWith':
      return String(actual).startsWith(String(value));
    case 'contains':
      return String(actual).includes(String(value));
    default:
      throw new Error(`no such operator: ${op}`);
  }
}

function conjunction(members: readonly (boolean | null)[]): boolean | null {
  if (members.includes(false)) return false;
  return members.includes(null) ? null : true;
}

function negation(value: boolean | null): boolean | null {
  return value === null ? null : !value;
}

/** NULL first, then by value. */
export function order(a: Plain, b: Plain): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
