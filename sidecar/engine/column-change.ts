import { canonicalJson } from '../../db_connector/protocol/canonical-json.ts';
import type { Column } from '../../db_connector/protocol/schema.ts';

/** As many digits as the largest value has. */
const NEEDED_DIGITS = { int32: 10, int64: 19 } as const;
/** As many digits as fit whatever they are. */
const SURE_DIGITS = { int32: 9, int64: 18 } as const;

export interface ColumnChange {
  /** Contract section 6 names the pairs of types that can become each other. */
  readonly isSupported: boolean;
  /** Some value that the old column holds would not fit the new one: every row has to be looked at. */
  readonly narrows: boolean;
  readonly becomesRequired: boolean;
  readonly becomesUnique: boolean;
  /** Some part of the declaration differs; the name does not count. */
  readonly isDifferent: boolean;
}

/** What it means for a column to become another. Names are not compared. */
export function compareColumns(from: Column, to: Column): ColumnChange {
  return {
    isSupported: isSupported(from, to),
    narrows: narrows(from, to),
    becomesRequired: from.nullable && !to.nullable,
    becomesUnique: !from.unique && to.unique,
    isDifferent: declaration(from) !== declaration(to),
  };
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
  });
}

function isSupported(from: Column, to: Column): boolean {
  if (from.autoIncrement !== to.autoIncrement) return false;
  return from.type === to.type || (isExact(from) && isExact(to)) || (isText(from) && isText(to));
}

function isExact(column: Column): boolean {
  return column.type === 'int32' || column.type === 'int64' || column.type === 'decimal';
}

function isText(column: Column): boolean {
  return column.type === 'string' || column.type === 'text';
}

function narrows(from: Column, to: Column): boolean {
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
