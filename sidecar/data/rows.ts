import { randomUUID } from 'node:crypto';
import { COLUMN_TYPES, type Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import type { JsonObject } from '#protocol/json.ts';
import { parseAmount } from '#protocol/value-numbers.ts';
import { parseValue, type Value } from '#protocol/values.ts';
import { deriveInto } from '../columns/derive.ts';
import type { Row } from '../engine/rows.ts';
import { columnAt, isMadeAtInsert, type TableColumns } from './table-columns.ts';

/**
 * A whole row as it is inserted: what was left out takes its default, else NULL. Absent is only what the database
 * generates.
 * @throws ApiError `unknown_column`, `invalid_value`, `value_too_long`, `missing_value`
 */
export function completeRow(columns: TableColumns, row: JsonObject, path: string, now: number): Row {
  for (const name of Object.keys(row)) writable(columns, name, `${path}.${name}`);
  const complete = new Map<string, Value>();
  for (const column of columns.byName.values()) {
    const json = row[column.name];
    if (json !== undefined) complete.set(column.name, parseValue(column, json, `${path}.${column.name}`));
    else if (!column.autoIncrement) complete.set(column.name, leftOut(columns, column, path, now));
  }
  deriveInto(columns.derived, complete);
  return complete;
}

function leftOut(columns: TableColumns, column: Column, path: string, now: number): Value {
  if (isMadeAtInsert(column)) return column.type === 'uuid' ? randomUUID() : timeValue(column, now);
  const value = columns.defaults.get(column.name);
  if (value !== undefined) return value;
  if (column.nullable) return null;
  throw new ApiError('missing_value', `${path}.${column.name}: expected a value, it is required`);
}

/** `now`, in epoch milliseconds, as a value of a datetime or date column. */
export function timeValue({ type }: Column, now: number): string {
  const time = new Date(now).toISOString();
  return type === 'date' ? time.slice(0, 'YYYY-MM-DD'.length) : time;
}

/**
 * With the columns that follow from those that are set.
 * @throws ApiError `unknown_column`, `invalid_request` for a key column, `invalid_value`, `value_too_long`
 */
export function parseSet(columns: TableColumns, set: JsonObject): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const name of Object.keys(set)) {
    const column = changeable(columns, name, `set.${name}`);
    values.set(name, parseValue(column, set[name] ?? null, `set.${name}`));
  }
  deriveInto(columns.derived, values);
  return values;
}

/** @throws ApiError `unknown_column`, `invalid_request` for a column that cannot be added to, `invalid_value` */
export function parseInc(columns: TableColumns, inc: JsonObject): Row {
  const amounts = new Map<string, Value>();
  for (const name of Object.keys(inc)) {
    const column = changeable(columns, name, `inc.${name}`);
    if (!COLUMN_TYPES[column.type].isNumeric) {
      throw new ApiError('invalid_request', `inc.${name}: a column of type ${column.type} cannot be added to`);
    }
    amounts.set(name, parseAmount(column, inc[name] ?? null, `inc.${name}`));
  }
  return amounts;
}

function changeable(columns: TableColumns, name: string, path: string): Column {
  const column = writable(columns, name, path);
  if (!columns.primaryKey.has(name)) return column;
  throw new ApiError('invalid_request', `${path}: a column of the primary key cannot be changed`);
}

function writable(columns: TableColumns, name: string, path: string): Column {
  const column = columnAt(columns, name, path);
  if (column.derived === undefined) return column;
  throw new ApiError(
    'invalid_value',
    `${path}: the column is derived from ${column.derived.from} and cannot be written`,
  );
}
