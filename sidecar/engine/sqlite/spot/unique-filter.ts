import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import { uniqueSets } from '../../model/physical-indexes.ts';

export type Comparison = Filter & { readonly kind: 'compare' };

/** Comparisons that a filter only joins by "and"; else null. None for no filter. */
export function comparisonsOf(filter: Filter | null): readonly Comparison[] | null {
  if (filter === null) return [];
  const members = filter.kind === 'and' ? filter.filters : [filter];
  return members.every(isComparison) ? members : null;
}

function isComparison(filter: Filter): filter is Comparison {
  return filter.kind === 'compare';
}

const knownSets = new WeakMap<Table, ReturnType<typeof uniqueSets>>();

/** Whether the comparisons are equality on the whole primary key, a unique column or a unique index, and nothing else. */
export function isWholeKey(table: Table, comparisons: readonly Comparison[]): boolean {
  if (comparisons.length === 0 || !comparisons.every(({ op }) => op === 'eq')) return false;
  const names = new Set(comparisons.map(({ column }) => column.name));
  if (names.size < comparisons.length) return false;
  let sets = knownSets.get(table);
  if (sets === undefined) {
    sets = uniqueSets(table);
    knownSets.set(table, sets);
  }
  return sets.some((set) => set.length === names.size && set.every((name) => names.has(name)));
}

/** Columns whose values may be long. */
export function longColumns({ columns }: Table): Table['columns'] {
  return columns.filter(isLong);
}

export function hasLongColumns({ columns }: Table): boolean {
  return columns.some(isLong);
}

function isLong({ type }: Column): boolean {
  return type === 'text' || type === 'json' || type === 'bytes';
}
