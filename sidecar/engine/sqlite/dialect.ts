import type { Column } from '#protocol/columns.ts';
import { decimalOf, floorToScale, scaledText } from '#protocol/decimal.ts';
import { ApiError } from '#protocol/errors.ts';
import { exactNumber } from '#protocol/json-value.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { parseValue, type Value } from '#protocol/values.ts';
import { physicalTable as neutralName } from '../model/physical-names.ts';
import type { TableTarget } from '../rows.ts';

/** A logical value as SQLite stores it. */
export type Physical = null | number | bigint | string | Uint8Array;

/** Epoch milliseconds. */
export const NOW_MS_SQL = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/**
 * How a column is stored: `int` INTEGER (int32, int64, bool); `scaled` INTEGER, a decimal times 10^scale; `wide` TEXT, a
 * decimal of more than 18 digits whose byte order is its order; `real` REAL; `text` TEXT in byte order; `blob` BLOB.
 */
export type StorageKind = 'int' | 'scaled' | 'wide' | 'real' | 'text' | 'blob';

/** A scaled decimal of more digits may not fit INTEGER. */
const MAX_SCALED_PRECISION = 18;

/** Digits of a sum of wide decimals: 34, and 20 for the number of rows. */
export const WIDE_SUM_PRECISION = 54;

const SQL_TYPES = {
  int: 'INTEGER',
  scaled: 'INTEGER',
  wide: 'TEXT',
  real: 'REAL',
  text: 'TEXT',
  blob: 'BLOB',
} as const satisfies Record<StorageKind, string>;

export function storageKind(column: Column): StorageKind {
  const { type } = column;
  switch (type) {
    case 'int32':
    case 'int64':
    case 'bool':
      return 'int';
    case 'decimal':
      return decimalPrecision(column) <= MAX_SCALED_PRECISION ? 'scaled' : 'wide';
    case 'float64':
      return 'real';
    case 'string':
    case 'text':
    case 'json':
    case 'datetime':
    case 'date':
    case 'uuid':
      return 'text';
    case 'bytes':
      return 'blob';
    default:
      return type satisfies never;
  }
}

export function sqlType(column: Column): (typeof SQL_TYPES)[StorageKind] {
  return SQL_TYPES[storageKind(column)];
}

/** Only for a value that the column can hold, as `parseValue` returns it. */
export function toPhysical(column: Column, value: Value): Physical {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (column.type !== 'decimal' || value === null) return value;
  const { scaled } = floorToScale(decimalOf(String(value)), decimalScale(column));
  return storageKind(column) === 'scaled' ? scaled : wideText(scaled, decimalPrecision(column));
}

/** The inverse of `toPhysical`. Integers may come as number or bigint. */
export function fromPhysical(column: Column, value: Physical): Value {
  if (value === null) return null;
  switch (column.type) {
    case 'int32':
      return Number(value);
    case 'int64':
      return BigInt(value as number | bigint);
    case 'bool':
      return Number(value) !== 0;
    case 'decimal':
      return scaledText(scaledOf(column, value as number | bigint | string), decimalScale(column));
    default:
      return value;
  }
}

/** A physical decimal as the integer that is 10^scale times it. */
export function scaledOf(column: Column, value: number | bigint | string): bigint {
  return storageKind(column) === 'scaled' ? BigInt(value) : scaledOfWide(String(value), decimalPrecision(column));
}

/**
 * Fixed width and never negative, so that the order of bytes is the order of numbers: 10^precision is added, and the
 * result padded to precision + 1 digits.
 */
export function wideText(scaled: bigint, precision: number): string {
  return (10n ** BigInt(precision) + scaled).toString().padStart(precision + 1, '0');
}

export function scaledOfWide(text: string, precision: number): bigint {
  return BigInt(text) - 10n ** BigInt(precision);
}

/** SQLite reserves names with this prefix, and a namespace may be called `sqlite`. */
const RESERVED = 'sqlite_';

/** The name of contract section 6, with a digit before it if SQLite reserves it. */
export function physicalTable(namespace: string, table: string): string {
  const name = neutralName(namespace, table);
  // No namespace begins with a digit.
  return name.startsWith(RESERVED) ? `0${name}` : name;
}

/** Name of the table that holds the rows of a target. */
export function physicalOf({ namespace, table, physical }: TableTarget): string {
  return physical ?? physicalTable(namespace, table.name);
}

/** Only for names that passed the naming rule, or names made of them. */
export function quoted(name: string): string {
  return `"${name}"`;
}

/** Whether the bytes on disk stay as they are when a column becomes another. */
export function isSameStorage(from: Column, to: Column): boolean {
  return storageForm(from) === storageForm(to);
}

/** Two columns with the same form store equal values as equal bytes. */
export function storageForm(column: Column): string {
  const kind = storageKind(column);
  if (kind === 'scaled') return `${kind} ${decimalScale(column)}`;
  return kind === 'wide' ? `${kind} ${column.precision} ${decimalScale(column)}` : kind;
}

/** A stored number in the form of another column. Throws `invalid_value` if it does not fit. */
export function converted(from: Column, to: Column, value: Physical): Physical {
  if (value === null) return null;
  return toPhysical(to, parseValue(to, exactNumber(String(fromPhysical(from, value)))));
}

export function canConvert(from: Column, to: Column, value: Physical): boolean {
  try {
    converted(from, to, value);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** A number column as the functions `fits_number` and `convert_number` take it, in a literal of SQL. */
export function numberText({ type, precision, scale }: Column): string {
  return JSON.stringify({ type, precision, scale });
}

/** The inverse of `numberText`. */
export function numberColumn(text: string): Column {
  const number = JSON.parse(text) as Pick<Column, 'type' | 'precision' | 'scale'>;
  return { name: '', nullable: true, unique: false, autoIncrement: false, ...number };
}
