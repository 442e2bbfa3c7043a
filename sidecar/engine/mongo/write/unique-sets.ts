import type { Document } from 'mongodb';
import { duplicateMessage } from '#engine/model/failures.ts';
import { physicalIndexes, uniqueSets } from '#engine/model/physical-indexes.ts';
import type { Row, TableTarget } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import { collectionOf, KEY_INDEX } from '../documents.ts';
import { allOf, matchOf } from '../read.ts';

/** MongoDB's own, over `_id`. */
export const OWN_INDEX = '_id_';

/** The columns of a unique index by its name; null where it is not known. */
export function columnsOfIndex(target: TableTarget, index: string | null): readonly string[] | null {
  if (index === null) return null;
  if (index === KEY_INDEX) return target.table.primaryKey ?? null;
  return physicalIndexes(collectionOf(target), target.table).find(({ name }) => name === index)?.columns ?? null;
}

/** Names columns, never values. */
export function violation(target: TableTarget, index: string | null, prefix = '', suffix = ''): ApiError {
  const columns = columnsOfIndex(target, index);
  return new ApiError('constraint_violation', `${prefix}${duplicateMessage(columns)}${suffix}`);
}

export function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}

/** A row of the table that the filter can only mean, if it names a key or another unique set with its values. */
export interface OneRow {
  readonly columns: readonly string[];
  /** What the filter wants of them. */
  readonly values: Row;
  /** The part of the filter that tells which row. */
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

/** All of them must hold for the filter to hold. */
function conjuncts(filter: Filter | null): readonly Filter[] {
  if (filter === null) return [];
  return filter.kind === 'and' ? filter.filters.flatMap(conjuncts) : [filter];
}
