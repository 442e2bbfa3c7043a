import type { Filter, Scalar } from './filters.ts';
import { isPlainObject, kindOf } from './json-text.ts';
import type { Sort } from './rows.ts';
import type { DbRow, DbValue } from './typed-rows.ts';

/** A column that rows are ordered by. */
export interface OrderedBy {
  readonly field: string;
  readonly dir: 'asc' | 'desc';
}

/** The order of a `Find`: its sort, and then the key, which makes it total (contract section 5). */
export function totalOrder(sort: Sort | undefined, key: readonly string[]): OrderedBy[] {
  const order = sort === undefined ? [] : (Array.isArray(sort) ? sort : [sort]).flatMap(termsOf);
  for (const field of key) if (!order.some((term) => term.field === field)) order.push({ field, dir: 'asc' });
  return order;
}

/** A term is text from `Q.Sort`, which may hold a list, or an object. */
function termsOf(given: unknown): OrderedBy[] {
  const term: unknown = typeof given === 'string' ? JSON.parse(given) : given;
  if (Array.isArray(term)) return term.flatMap(termsOf);
  if (!isPlainObject(term) || !('field' in term) || typeof term.field !== 'string') {
    throw new TypeError(`sort: expected Q.Sort(…), or { field, dir }, got ${kindOf(term)}`);
  }
  return [{ field: term.field, dir: 'dir' in term && term.dir === 'desc' ? 'desc' : 'asc' }];
}

/**
 * A filter for the rows that come after one, in this order: rows that are greater in the first column, or equal in it and
 * greater in the second, and so on. NULL comes first ascending and last descending (contract section 4).
 *
 * @returns null if no row can come after it
 */
export function rowsAfter(row: DbRow, order: readonly OrderedBy[]): Filter | null {
  const alternatives: Filter[] = [];
  const equal: Filter[] = [];
  for (const { field, dir } of order) {
    const value = row[field] ?? null;
    const beyond = valuesAfter(field, dir, value);
    if (beyond !== null) alternatives.push(equal.length === 0 ? beyond : { and: [...equal, beyond] });
    equal.push({ field, op: 'eq', value: value as Scalar | null });
  }
  return alternatives.length === 0 ? null : { or: alternatives };
}

function valuesAfter(field: string, dir: 'asc' | 'desc', value: DbValue): Filter | null {
  const isAscending = dir === 'asc';
  if (value === null) return isAscending ? { field, op: 'isNull', value: false } : null;
  // Truth values know no greater and less.
  if (typeof value === 'boolean') {
    const after: Filter | null = value === isAscending ? null : { field, op: 'eq', value: isAscending };
    return isAscending ? after : orNull(field, after);
  }
  const beyond: Filter = { field, op: isAscending ? 'gt' : 'lt', value: value as Scalar };
  return isAscending ? beyond : orNull(field, beyond);
}

function orNull(field: string, filter: Filter | null): Filter {
  const isNull: Filter = { field, op: 'isNull', value: true };
  return filter === null ? isNull : { or: [filter, isNull] };
}
