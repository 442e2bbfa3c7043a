import type { Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { exactNumber } from '#protocol/json-value.ts';
import { decimalScale } from '#protocol/value-numbers.ts';
import { parseValue } from '#protocol/values.ts';
import { fromPhysical, type Physical, storageKind, toPhysical } from '../dialect.ts';

/** Whether the bytes on disk stay as they are when a column becomes another. */
export function isSameStorage(from: Column, to: Column): boolean {
  return storageForm(from) === storageForm(to);
}

/** Two columns with the same form keep equal values alike. */
export function storageForm(column: Column): string {
  const kind = storageKind(column);
  if (kind === 'scaled') return `${kind} ${decimalScale(column)}`;
  return kind === 'wide' ? `${kind} ${column.precision} ${decimalScale(column)}` : kind;
}

/** A kept value in the form of another column. Throws `invalid_value` where it does not fit. Numbers only. */
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
