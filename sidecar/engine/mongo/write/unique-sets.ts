import type { Document } from 'mongodb';
import { duplicateMessage } from '#engine/model/failures.ts';
import { physicalIndexes, uniqueSets } from '#engine/model/physical-indexes.ts';
import type { Row, TableTarget } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import { collectionOf, KEY_INDEX } from '../documents.ts';
import { allOf, matchOf } from '../read.ts';

/** MongoDB's own index, over `_id`. */
export const OWN_INDEX = '_id_';

/** Columns of a unique index by its name; null if the index is not known. */
export function columnsOfIndex(target: TableTarget, index: string | null): readonly string[] | null {
  if (index === null) return null;
  if (index === KEY_INDEX) return target.table.primaryKey ?? null;
  return physicalIndexes(collectionOf(target), target.table).find(({ name }) => name === index)?.columns ?? null;
}

/** Error that names columns, never values. */
export function violation(target: TableTarget, index: string | null, prefix = '', suffix = ''): ApiError {
  const columns = columnsOfIndex(target, index);
  return new ApiError('constraint_violation', `${prefix}${duplicateMessage(columns)}${suffix}`);
}

export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

/** The only row that a filter can match, if it names all values of the key or of another unique set. */
export interface OneRow {
  readonly columns: readonly string[];
  /** Values in the filter. */
  readonly values: Row;
  /** Part of the filter that identifies the row. */
  readonly match: Document;
}

export function oneRowOf(table: Table, filter: Filter | null): OneRow | null {
  const equal = new Map<string, Filter & { readonly kind: 'compare' }>();
  for (const member of conjuncts(filter)) {
    if (member.kind === 'compare' && member.op === 'eq' && member.value !== null) equal.set(member.column.name, member);
  }
  const columns = uniqueSets(table).find((set) => set.every((name) => equal.has(name)));
  if (columns === undefined) return null;
  const values = new Map(columns.map((name) => [name, equal.get(name)?.value ?? null]));
  return { columns, values, match: allOf(columns.map((name) => matchOf(equal.get(name) ?? null))) };
}

/** Filters that must all hold for the filter to hold. */
function conjuncts(filter: Filter | null): readonly Filter[] {
  if (filter === null) return [];
  return filter.kind === 'and' ? filter.filters.flatMap(conjuncts) : [filter];
}
