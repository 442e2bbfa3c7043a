import { ApiError } from '#protocol/errors.ts';
import {
  type Column,
  columnOf,
  findTable,
  parseStoredSchema,
  type Schema,
  schemaToJson,
  type Table,
} from '#protocol/schema.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import type { QuarantinedObject } from '../schema-calls.ts';
import { type KeptColumn, keptOfText, partOfKeptTable } from './kept.ts';
import { restoredSchema } from './schema-parts.ts';
import { schemaOfText } from './schema-text.ts';

/** A whole schema with an object from quarantine in it. */
export interface Restored {
  readonly schema: Schema;
  /** As in `RestoredObject`. */
  readonly note: string | null;
}

/** An object in quarantine, with what brings it back. */
export interface Restorable {
  readonly object: QuarantinedObject;
  /** Name of the kept table. */
  readonly physical: string;
  /** JSON text of the table as a schema, or of a `KeptColumn`. */
  readonly definition: string;
}

/** Definition of a kept table, whose name must be free. @throws ApiError `unsupported_change` */
export function restorableTable(object: QuarantinedObject, definition: string, schema: Schema): Table {
  const { table: name } = object;
  if (findTable(schema, name) !== null) throw refusal(object, `a table ${name} is declared; rename or remove it first`);
  const table = findTable(schemaOfText(definition), name);
  if (table === null) throw new Error(`the definition of quarantined object ${object.id} lacks its table`);
  return table;
}

/**
 * Table of a kept column: it must exist, lack the column, and identify its rows by the same key.
 * @throws ApiError `unsupported_change`
 */
export function tableOfKept(object: QuarantinedObject, kept: KeptColumn, schema: Schema): Table {
  const table = findTable(schema, object.table);
  if (table === null || kept.goneWith !== null) throw refusal(object, `its table ${object.table} is no longer there`);
  if (table.columns.some(({ name }) => name === kept.column.name)) {
    throw refusal(object, `the table has a column ${kept.column.name}; rename or remove it first`);
  }
  checkKey(object, table, kept);
  return table;
}

/** Rows must still have the identity that they had when the column was kept. */
function checkKey(object: QuarantinedObject, table: Table, kept: KeptColumn): void {
  const keptKey = kept.key?.map(keyText) ?? [];
  const key = table.primaryKey?.map((name) => keyText(columnOf(table, name, 'primaryKey'))) ?? [];
  if (kept.isKeyLost || keptKey.join(', ') !== key.join(', ')) {
    throw refusal(object, `the primary key of ${table.name} has changed since, so its rows cannot be told`);
  }
}

/** SQLite stores a decimal of more digits in another form; all engines refuse such a change of the key alike. */
const MAX_SHORT_PRECISION = 18;

/** Two key columns with the same text store equal values in the same form, on every engine. */
function keyText(column: Column): string {
  const { name, type } = column;
  if (type === 'int32' || type === 'int64') return `${name} integer`;
  if (type !== 'decimal') return `${name} ${type}`;
  const precision = decimalPrecision(column);
  const scale = decimalScale(column);
  return precision > MAX_SHORT_PRECISION ? `${name} decimal ${precision} ${scale}` : `${name} decimal ${scale}`;
}

/** The column before its values are back. */
export function emptyColumn({ column }: KeptColumn): Column {
  const { default: _, ...bare } = column;
  return { ...bare, nullable: true, unique: false, autoIncrement: false };
}

/**
 * The column after its values are back. Nullable if `lacking` rows have nothing for it, so that the kept values can be
 * restored.
 */
export function restoredColumn({ column }: KeptColumn, lacking: number): Column {
  return { ...column, autoIncrement: false, nullable: column.nullable || lacking > 0 };
}

export function restoredNote(lacking: number): string | null {
  const rows = lacking === 1 ? '1 newer row has' : `${lacking} newer rows have`;
  return lacking === 0 ? null : `it is nullable now, because ${rows} no value for it`;
}

/**
 * The schema with one table or column more; `definition` is that of the object. @throws ApiError `unsupported_change`
 */
export function schemaWith(object: QuarantinedObject, definition: string, schema: Schema, table: Table): Schema {
  const others = schema.tables.filter(({ name }) => name !== table.name);
  const { tables } = checkedSchema(object, { tables: [...others, table] });
  const part = object.kind === 'table' ? partOfKeptTable(definition, object.table) : keptOfText(definition).part;
  return restoredSchema(tables, schema, object, part);
}

/** The whole schema must obey the rules of a declared one: it may have reached its limits since. */
function checkedSchema(object: QuarantinedObject, schema: Schema): Schema {
  try {
    return parseStoredSchema(schemaToJson(schema));
  } catch (error) {
    if (error instanceof ApiError) throw refusal(object, error.message);
    throw error;
  }
}

/** `unsupported_change` with the reason, in words for the owner. */
export function refusal(object: QuarantinedObject, reason: string): ApiError {
  const name = [object.namespace, object.table, ...(object.column === null ? [] : [object.column])].join('.');
  return new ApiError('unsupported_change', `${object.kind} ${name} (${object.id}) cannot be restored: ${reason}`);
}
