import { canonicalJson } from '#protocol/canonical-json.ts';
import type { Column } from '#protocol/schema.ts';
import { isFilledIn } from '#protocol/schema-column.ts';
import { parseValue, type Value } from '#protocol/values.ts';

/** Digits of the largest value. */
const NEEDED_DIGITS = { int32: 10, int64: 19 } as const;
/** Digits that always fit, whichever they are. */
const SURE_DIGITS = { int32: 9, int64: 18 } as const;

export interface ColumnChange {
  /** The types are a pair of contract section 6, which can become each other. */
  readonly isSupported: boolean;
  /** A value of the old column may not fit the new one: every row must be checked. */
  readonly narrows: boolean;
  /** `oneOf` lacks values that the old column allows. */
  readonly narrowsValues: boolean;
  readonly becomesRequired: boolean;
  readonly becomesUnique: boolean;
  /** A part of the declaration differs; the name does not count. */
  readonly isDifferent: boolean;
}

/** Compares two declarations of a column. Names are not compared. */
export function compareColumns(from: Column, to: Column): ColumnChange {
  return {
    isSupported: isSupported(from, to),
    narrows: narrows(from, to),
    narrowsValues: narrowsValues(from, to),
    becomesRequired: from.nullable && !to.nullable,
    becomesUnique: !from.unique && to.unique,
    isDifferent: declaration(from) !== declaration(to),
  };
}

/** Whether two derived columns compute the same values from their source. */
export function isDerivedAlike(from: Column, to: Column): boolean {
  return from.derived !== undefined && to.derived !== undefined && derivation(from) === derivation(to);
}

function derivation({ type, length, precision, scale, derived, oneOf }: Column): string {
  return canonicalJson({
    type,
    length: length ?? null,
    precision: precision ?? null,
    scale: scale ?? null,
    derived: derived === undefined ? null : { ...derived },
    oneOf: oneOf ?? null,
  });
}

function declaration(column: Column): string {
  return canonicalJson({
    type: column.type,
    length: column.length ?? null,
    precision: column.precision ?? null,
    scale: column.scale ?? null,
    nullable: column.nullable,
    unique: column.unique,
    autoIncrement: column.autoIncrement,
    default: column.default ?? null,
    derived: column.derived === undefined ? null : { ...column.derived },
    onUpdate: column.onUpdate ?? null,
    oneOf: column.oneOf ?? null,
    filling: column.filling ?? null,
  });
}

function isSupported(from: Column, to: Column): boolean {
  if (from.autoIncrement !== to.autoIncrement) return false;
  // Values of its own would be lost. A derived column that changes is computed again, whatever it was.
  if (to.derived !== undefined) return from.derived !== undefined;
  return from.type === to.type || (isExact(from) && isExact(to)) || (isText(from) && isText(to));
}

/** In a derived column `oneOf` selects values of its source, so that every row fits. */
function narrowsValues(from: Column, to: Column): boolean {
  const { oneOf } = to;
  if (oneOf === undefined || to.derived !== undefined) return false;
  return from.oneOf === undefined || !from.oneOf.every((value) => oneOf.includes(value));
}

function isExact(column: Column): boolean {
  return column.type === 'int32' || column.type === 'int64' || column.type === 'decimal';
}

function isText(column: Column): boolean {
  return column.type === 'string' || column.type === 'text';
}

function narrows(from: Column, to: Column): boolean {
  if (to.derived !== undefined) return false;
  if (isText(from) && isText(to)) {
    return (to.length ?? Infinity) < (from.length ?? Infinity);
  }
  if (isExact(from) && isExact(to)) {
    return narrowsExact(from, to);
  }
  return false;
}

function narrowsExact(from: Column, to: Column): boolean {
  if (from.type === to.type && from.type !== 'decimal') return false;
  return fractionDigits(to) < fractionDigits(from) || roomBefore(to) < neededBefore(from);
}

function fractionDigits(column: Column): number {
  return column.type === 'decimal' ? (column.scale ?? 0) : 0;
}

function neededBefore(column: Column): number {
  if (column.type === 'int32' || column.type === 'int64') return NEEDED_DIGITS[column.type];
  return (column.precision ?? 0) - (column.scale ?? 0);
}

function roomBefore(column: Column): number {
  if (column.type === 'int32' || column.type === 'int64') return SURE_DIGITS[column.type];
  return (column.precision ?? 0) - (column.scale ?? 0);
}

/** Values that existing rows get in a new column. */
export type Fill =
  | { readonly kind: 'constant'; readonly value: Value }
  /** A random UUID for each row. */
  | { readonly kind: 'random' }
  /** Rows are numbered from 1, in their order. */
  | { readonly kind: 'generated' }
  /** No value fits: the table must have no rows. */
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
