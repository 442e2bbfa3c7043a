import type { Column } from '#protocol/columns.ts';
import { isFilledIn } from '#protocol/schema-column.ts';
import { parseValue, type Value } from '#protocol/values.ts';

/** What rows that exist get in a new column. */
export type Fill =
  | { readonly kind: 'constant'; readonly value: Value }
  /** Another UUID for each row. */
  | { readonly kind: 'random' }
  /** The rows are numbered from 1 on, in their order. */
  | { readonly kind: 'generated' }
  /** Nothing fits: the table must have no rows. */
  | { readonly kind: 'none' };

/** `now` is the time of the sync, in epoch milliseconds. */
export function fillOf(column: Column, now: number): Fill {
  if (column.autoIncrement) return { kind: 'generated' };
  if (column.default === undefined) return column.nullable ? { kind: 'constant', value: null } : { kind: 'none' };
  if (!isFilledIn(column.type, column.default)) {
    return { kind: 'constant', value: parseValue(column, column.default) };
  }
  if (column.type === 'uuid') return { kind: 'random' };
  const time = new Date(now).toISOString();
  return { kind: 'constant', value: column.type === 'date' ? time.slice(0, 'YYYY-MM-DD'.length) : time };
}
