import { ApiError } from '../../db_connector/protocol/errors.ts';
import type { PayloadOf } from '../../db_connector/protocol/payloads.ts';
import type { Table } from '../../db_connector/protocol/schema.ts';
import type { Write } from '../engine/engine.ts';
import { completeRow, parseInc, parseSet } from './rows.ts';
import { columnAt, columnsOf, keyText, type TableColumns } from './table-columns.ts';

/** @throws ApiError `invalid_request` for nothing to do, or a column in both `set` and `inc` */
export function parseUpdate(payload: PayloadOf<'update'>, table: Table): Omit<Write & { op: 'update' }, 'filter'> {
  const columns = columnsOf(table);
  const set = parseSet(columns, payload.set ?? {});
  const inc = parseInc(columns, payload.inc ?? {});
  if (set.size + inc.size === 0) throw new ApiError('invalid_request', 'set, inc: expected at least one column');
  for (const name of inc.keys()) {
    if (set.has(name)) throw new ApiError('invalid_request', `inc.${name}: the column stands in set as well`);
  }
  return { op: 'update', set, inc };
}

/**
 * Columns of the primary key outside `keys` count at insertion only, and columns left out of the row keep their value
 * where it exists (contract section 5).
 */
export function parseUpsert(payload: PayloadOf<'upsert'>, table: Table, now: number): Write & { op: 'upsert' } {
  const columns = columnsOf(table);
  checkKeys(payload, columns);
  const row = completeRow(columns, payload.row, 'row', now);
  const isKept = (name: string): boolean => payload.keys.includes(name) || columns.primaryKey.has(name);
  return { op: 'upsert', row, keys: payload.keys, update: Object.keys(payload.row).filter((name) => !isKept(name)) };
}

function checkKeys({ keys, row }: PayloadOf<'upsert'>, columns: TableColumns): void {
  keys.forEach((name, i) => {
    columnAt(columns, name, `keys[${i}]`);
  });
  if (!columns.uniqueKeys.has(keyText(keys))) {
    throw new ApiError('invalid_request', 'keys: expected the primary key or the columns of one unique index');
  }
  for (const name of keys) {
    if ((row[name] ?? null) === null) throw new ApiError('missing_value', `row.${name}: expected a value, it is a key`);
  }
}
