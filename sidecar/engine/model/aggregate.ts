import type { Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { decimalScale } from '#protocol/value-numbers.ts';
import type { AggregateQuery, AggregateValue } from '../rows.ts';

/** A property of an answered row. */
export interface AggregateOutput {
  /** Its name in the answer. */
  readonly name: string;
  /** Column of its values, under a name that no declared column can have. For exact sums a decimal of any size. */
  readonly column: Column;
  /** Null for a column of the group. */
  readonly value: AggregateValue | null;
}

/** More than any sum of rows that a database holds. */
const SUM_PRECISION = 65;

/** The group's columns, then the values. */
export function outputsOf({ groupBy, values }: AggregateQuery): AggregateOutput[] {
  return [
    ...groupBy.map((column, i) => ({ name: column.name, column: { ...column, name: `_g${i}` }, value: null })),
    ...values.map((value, i) => ({ name: value.as, column: columnFor(value, `_v${i}`), value })),
  ];
}

function columnFor({ fn, column }: AggregateValue, name: string): Column {
  const plain = { name, nullable: true, unique: false, autoIncrement: false } as const;
  if (column === null || fn === 'count' || fn === 'countDistinct') return { ...plain, type: 'int64' };
  if (fn !== 'sum') return { ...column, name, nullable: true };
  if (column.type === 'float64') return { ...plain, type: 'float64' };
  const scale = column.type === 'decimal' ? decimalScale(column) : 0;
  return { ...plain, type: 'decimal', precision: SUM_PRECISION, scale };
}

/** A sum of doubles as JSON. @throws ApiError if no double is as large */
export function floatSumText(sum: unknown): string {
  const double = Number(sum);
  if (Number.isFinite(double)) return String(double);
  throw sumTooLarge();
}

export function sumTooLarge(): ApiError {
  return new ApiError('invalid_value', 'values: a sum of float64 is larger than a double holds');
}
