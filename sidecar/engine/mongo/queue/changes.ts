import type { Document } from 'mongodb';
import { uniqueSets } from '#engine/model/physical-indexes.ts';
import type { QueueUnit } from '#engine/model/queue-units.ts';
import { upsertChange } from '#engine/model/upsert-change.ts';
import type { QueuedEntry } from '#engine/queues.ts';
import type { Row, TableTarget, Write } from '#engine/rows.ts';
import type { ColumnType } from '#protocol/columns.ts';
import type { Table } from '#protocol/schema.ts';
import { allOf, columnNamed, matchOf } from '../read.ts';
import { type QueuedOperation, unmarked } from '../write/call.ts';
import { compileChange } from '../write/change.ts';
import { isSameSet, oneRowOf } from '../write/unique-sets.ts';
import { compileUpsertChange, keyMatch } from '../write/upsert.ts';

/**
 * A change of the row with a key, which can neither collide with another row nor change the key. Changes of different
 * keys may be done in any order.
 */
export interface KeyedChange {
  readonly entry: QueuedEntry;
  readonly operation: QueuedOperation;
  readonly target: TableTarget;
  /** A unique set of the table, and the values of the row in it. */
  readonly columns: readonly string[];
  readonly key: string;
  readonly match: Document;
  /** `match`, and all other conditions for the row. */
  readonly selection: Document;
  readonly update: Document | Document[];
  /** The selection excludes rows that refuse the change. */
  readonly isGuarded: boolean;
  /** Row to insert if no row has the key. */
  readonly row: Row | null;
}

/** Null for any other work, which is done alone. */
export function keyedChangeOf(
  { entries, work }: QueueUnit,
  operationOf: (entry: QueuedEntry) => QueuedOperation,
): KeyedChange | null {
  const [entry] = entries;
  // The letter of a retry is deleted with the entry, so it is done alone.
  if (!('write' in work) || entry === undefined || entry.isRetry) return null;
  const { target, write } = work;
  const operation = operationOf(entry);
  const parts = write.op === 'update' ? updateOf(target, write, operation) : upsertOf(target, write, operation);
  if (parts === null || !parts.columns.every((name) => KEY_TYPES.has(columnNamed(target.table, name).type)))
    return null;
  const { values, ...change } = parts;
  return { entry, operation, target, ...change, key: keyText(parts.columns, values) };
}

/** Types whose equal values have one text. */
const KEY_TYPES: ReadonlySet<ColumnType> = new Set(['int32', 'int64', 'string', 'uuid', 'date', 'datetime']);

export function keyText(columns: readonly string[], values: Row): string {
  return columns
    .toSorted()
    .map((name) => String(values.get(name)))
    .join('\0');
}

/** Whether two changes may be done together. */
export function isAlike(a: KeyedChange, b: KeyedChange): boolean {
  if (
    a.target !== b.target &&
    (a.target.revision !== b.target.revision || a.target.table.name !== b.target.table.name)
  ) {
    return false;
  }
  return isSameSet(a.columns, b.columns);
}

type Parts = Pick<KeyedChange, 'columns' | 'match' | 'selection' | 'update' | 'isGuarded' | 'row'> & {
  readonly values: Row;
};

function updateOf(
  { table }: TableTarget,
  { filter, set, inc }: Write & { op: 'update' },
  operation: QueuedOperation,
): Parts | null {
  const oneRow = oneRowOf(table, filter);
  if (oneRow === null || touchesUnique(table, [...set.keys(), ...inc.keys()])) return null;
  const { update, guards } = compileChange(table, set, inc, operation);
  const { columns, values, match } = oneRow;
  const selection = allOf([matchOf(filter), unmarked(operation), ...guards]);
  return { columns, values, match, selection, update, isGuarded: guards.length > 0, row: null };
}

function upsertOf(target: TableTarget, write: Write, operation: QueuedOperation): Parts | null {
  if (write.op !== 'upsert' || write.insertFault !== undefined) return null;
  const { set, inc, isEmpty } = upsertChange(write);
  if (isEmpty || touchesUnique(target.table, [...set.keys(), ...inc.keys()])) return null;
  const match = keyMatch({ target }, write);
  const { update, guards } = compileUpsertChange(target.table, write, operation);
  const selection = allOf([match, unmarked(operation), ...guards]);
  const isGuarded = guards.length > 0;
  return { columns: write.keys, values: write.row, match, selection, update, isGuarded, row: write.row };
}

function touchesUnique(table: Table, names: readonly string[]): boolean {
  return uniqueSets(table).some((set) => set.some((name) => names.includes(name)));
}
