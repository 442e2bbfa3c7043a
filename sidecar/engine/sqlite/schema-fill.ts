import { randomUUID } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Column } from '../../../db_connector/protocol/columns.ts';
import { isFilledIn } from '../../../db_connector/protocol/schema-column.ts';
import { parseValue } from '../../../db_connector/protocol/values.ts';
import { type Physical, toPhysical } from './storage.ts';

/** What rows that exist get in a new column. */
export type Fill =
  | { readonly kind: 'constant'; readonly value: Physical }
  /** Another value for each row. */
  | { readonly kind: 'random' }
  /** SQLite numbers the rows in the order in which they are copied. */
  | { readonly kind: 'generated' }
  /** Nothing fits: the table must have no rows. */
  | { readonly kind: 'none' };

/** `now` is the time of the sync, in epoch milliseconds. */
export function fillOf(column: Column, now: number): Fill {
  if (column.autoIncrement) return { kind: 'generated' };
  if (column.default === undefined) return column.nullable ? { kind: 'constant', value: null } : { kind: 'none' };
  if (!isFilledIn(column.type, column.default)) {
    return { kind: 'constant', value: toPhysical(column, parseValue(column, column.default)) };
  }
  if (column.type === 'uuid') return { kind: 'random' };
  const time = new Date(now).toISOString();
  return { kind: 'constant', value: column.type === 'date' ? time.slice(0, 'YYYY-MM-DD'.length) : time };
}

/** In SQL, once defined: another random value in each row. */
export const RANDOM = '_random()';

export function defineRandom(db: Database): void {
  db.function('_random', { deterministic: false, directOnly: true }, () => randomUUID());
}
