import type { Column } from '#protocol/columns.ts';
import { decimalOf, floorToScale, scaledText } from '#protocol/decimal.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import type { Value } from '#protocol/values.ts';

/** A logical value in the form in which SQLite keeps it. */
export type Physical = null | number | bigint | string | Uint8Array;

/**
 * How a column is kept: `int` INTEGER (int32, int64, bool); `scaled` INTEGER, a decimal times 10^scale; `wide` TEXT, a
 * decimal of more than 18 digits whose byte order is its order; `real` REAL; `text` TEXT in byte order; `blob` BLOB.
 */
export type StorageKind = 'int' | 'scaled' | 'wide' | 'real' | 'text' | 'blob';

/** With more digits a scaled decimal does not surely fit INTEGER. */
const MAX_SCALED_PRECISION = 18;

/** Digits of a sum of wide decimals: 34, and those of more rows than there can be. */
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

/** Only for a value that the column can hold, as `parseValue` gives it. */
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
