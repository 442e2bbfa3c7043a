import { ApiError } from '#protocol/errors.ts';
import type { JsonObject } from '#protocol/json.ts';
import type { PayloadOf } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';
import { addAmount } from '#protocol/value-numbers.ts';
import type { Value } from '#protocol/values.ts';
import type { Row, Write } from '../engine/rows.ts';
import { completeRow, parseInc, timeValue } from './rows.ts';
import { columnAt, columnsOf, keyText, type TableColumns } from './table-columns.ts';

type Payload = PayloadOf<'upsert'>;
const NOTHING: Row = new Map();

type Upsert = Write & { readonly op: 'upsert' };

/**
 * Columns of the primary key outside `keys` count at insertion only, and columns left out of the row keep their value
 * where it exists (contract section 5). `update` names the only ones that an existing row takes, and `inc` what is added
 * to it, or to what a new row begins with (contract section 11).
 * @throws ApiError `unknown_column`, `missing_value`, `invalid_value`, `value_too_long`, and `invalid_request` for `keys`,
 *   `update` and `inc` that do not go with the table, with the row or with each other
 */
export function parseUpsert(payload: Payload, table: Table, now: number): Upsert {
  const columns = columnsOf(table);
  checkKeys(payload, columns);
  const isKept = (name: string): boolean => payload.keys.includes(name) || columns.primaryKey.has(name);
  const inc = incOf(payload, columns);
  checkUpdate(payload, columns, isKept);
  const row = completeRow(columns, begun(columns, payload.row, inc), 'row', now);
  const given = payload.update ?? Object.keys(payload.row).filter((name) => !isKept(name) && !inc.has(name));
  const isInsertOnly = payload.update?.length === 0 && inc.size === 0;
  const update = [...given, ...derivedFrom(given, columns)];
  const touch = isInsertOnly ? NOTHING : touched(columns, [...payload.keys, ...given], now);
  const common = { op: 'upsert', keys: payload.keys, update, touch } as const;
  if (inc.size > 0) return { ...common, ...added(columns, row, inc), inc };
  return { ...common, row, isInsertOnly };
}

/** An existing row takes with a source what is derived from it. */
function derivedFrom(names: readonly string[], { derived }: TableColumns): string[] {
  return derived.filter(({ source }) => names.includes(source.name)).map(({ column }) => column.name);
}

/** The time of a change, for the columns that it does not set itself. */
function touched({ setAtUpdate }: TableColumns, set: readonly string[], now: number): Row {
  const left = setAtUpdate.filter(({ name }) => !set.includes(name));
  return new Map(left.map((column) => [column.name, timeValue(column, now)]));
}

function checkKeys({ keys, row }: Payload, columns: TableColumns): void {
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

function incOf({ keys, inc }: Payload, columns: TableColumns): Row {
  const amounts = parseInc(columns, inc ?? {});
  for (const name of amounts.keys()) {
    if (keys.includes(name)) throw new ApiError('invalid_request', `inc.${name}: a column of keys cannot be changed`);
  }
  return amounts;
}

function checkUpdate({ update, row, inc }: Payload, columns: TableColumns, isKept: (name: string) => boolean): void {
  update?.forEach((name, i) => {
    const path = `update[${i}]`;
    columnAt(columns, name, path);
    if (isKept(name)) throw new ApiError('invalid_request', `${path}: ${name} is a key column and cannot be changed`);
    if (row[name] === undefined) throw new ApiError('invalid_request', `${path}: ${name} has no value in row`);
    if (inc?.[name] !== undefined) throw new ApiError('invalid_request', `${path}: ${name} stands in inc as well`);
  });
}

/** A counted column begins with 0 if the row has no value for it. */
function begun(columns: TableColumns, row: JsonObject, inc: Row): JsonObject {
  const missing = [...inc.keys()].filter((name) => row[name] === undefined && !columns.defaults.has(name));
  if (missing.length === 0) return row;
  // Inherits nothing, as all objects that are read.
  const begins: JsonObject = Object.assign(Object.create(null), row);
  for (const name of missing) begins[name] = 0;
  return begins;
}

/** A sum that does not fit the column matters only if the row is inserted. */
function added(columns: TableColumns, row: Row, inc: Row): Pick<Upsert, 'row' | 'insertFault'> {
  const sums = new Map(row);
  for (const [name, amount] of inc) {
    const sum = addAmount(
      columnAt(columns, name, `inc.${name}`),
      numberOf(row.get(name) ?? null),
      numberOf(amount) ?? 0,
    );
    if (sum === null) {
      const fault = `inc.${name}: the result is out of the range of its column; nothing was changed`;
      return { row, insertFault: new ApiError('invalid_value', fault) };
    }
    sums.set(name, sum);
  }
  return { row: sums };
}

/** `parseInc` has refused all columns that hold anything else. */
function numberOf(value: Value): bigint | string | number | null {
  if (value === null || typeof value === 'boolean' || value instanceof Uint8Array) return null;
  return value;
}
