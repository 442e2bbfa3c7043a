import { Decimal128, type Document, Double, Int32, Long } from 'mongodb';
import type { Row } from '#engine/rows.ts';
import type { Column } from '#protocol/columns.ts';
import { decimalOf, floorToScale, scaledText } from '#protocol/decimal.ts';
import { INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN } from '#protocol/limits.ts';
import type { Table } from '#protocol/schema.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import type { Value } from '#protocol/values.ts';
import { type FieldValue, fieldOf, MARKS_FIELD, toBson } from '../documents.ts';
import { NOTHING } from '../read.ts';
import type { Operation } from './call.ts';

export interface CompiledChange {
  readonly update: Document | Document[];
  /** Conditions of a document under which the result of every `inc` is in the range of its column. */
  readonly guards: readonly Document[];
}

/** A number that `inc` adds, in pieces up to the largest value of the column: MongoDB could not hold a larger one. */
interface Addition {
  readonly field: string;
  readonly pieces: readonly [FieldValue, ...FieldValue[]];
  readonly zero: FieldValue;
}

/**
 * Compiles the change. It marks documents with an operation that may be repeated, so that a marked document is not
 * changed again.
 */
export function compileChange(table: Table, set: Row, inc: Row, operation: Operation | null): CompiledChange {
  const guards: Document[] = [];
  const additions: Addition[] = [];
  for (const column of table.columns) {
    const amount = inc.get(column.name) ?? null;
    if (amount === null) continue;
    const { pieces, zero, guard } = additionOf(column, amount);
    additions.push({ field: fieldOf(column.name), pieces, zero });
    if (guard !== null) guards.push(guard);
  }
  const isPlain = additions.every(({ pieces }) => pieces.length === 1);
  const changes = { ...valuesOf(table, set), additions, operation };
  return { update: isPlain ? operators(changes) : stages(changes), guards };
}

interface Changes {
  readonly set: Readonly<Record<string, FieldValue>>;
  readonly unset: readonly string[];
  readonly additions: readonly Addition[];
  readonly operation: Operation | null;
}

function valuesOf(table: Table, set: Row): Pick<Changes, 'set' | 'unset'> {
  const values: Record<string, FieldValue> = {};
  const unset: string[] = [];
  for (const column of table.columns) {
    const value = set.get(column.name);
    if (value === undefined) continue;
    if (value === null) unset.push(fieldOf(column.name));
    else values[fieldOf(column.name)] = toBson(column, value);
  }
  return { set: values, unset };
}

function operators({ set: values, unset, additions, operation }: Changes): Document {
  const set = operation?.kind === 'queued' ? { ...values, [operation.field]: operation.id } : values;
  return {
    ...(Object.keys(set).length === 0 ? {} : { $set: set }),
    ...(unset.length === 0 ? {} : { $unset: Object.fromEntries(unset.map((field) => [field, ''])) }),
    ...(additions.length === 0
      ? {}
      : { $inc: Object.fromEntries(additions.map(({ field, pieces }) => [field, pieces[0]])) }),
    ...(operation?.kind === 'keyed' ? { $push: { [MARKS_FIELD]: operation.id } } : {}),
  };
}

/**
 * The same change as a pipeline, in which sums have several members. Each intermediate sum is in the range of the
 * column.
 */
function stages({ set, unset, additions, operation }: Changes): Document[] {
  const fields: Document = {};
  for (const [field, value] of Object.entries(set)) fields[field] = { $literal: value };
  for (const { field, pieces, zero } of additions) {
    let sum: Document = { $ifNull: [`$${field}`, zero] };
    for (const piece of pieces) sum = { $add: [sum, piece] };
    fields[field] = sum;
  }
  if (operation?.kind === 'keyed') {
    fields[MARKS_FIELD] = { $concatArrays: [{ $ifNull: [`$${MARKS_FIELD}`, []] }, [operation.id]] };
  }
  if (operation?.kind === 'queued') fields[operation.field] = operation.id;
  return [{ $set: fields }, ...(unset.length === 0 ? [] : [{ $unset: unset }])];
}

type AdditionToColumn = Pick<Addition, 'pieces' | 'zero'> & { readonly guard: Document | null };

function additionOf(column: Column, amount: NonNullable<Value>): AdditionToColumn {
  const field = fieldOf(column.name);
  if (column.type === 'float64') {
    const double = Number(amount);
    return { pieces: [new Double(double)], zero: new Double(0), guard: floatGuard(field, double) };
  }
  const range = rangeOf(column);
  const added = range.read(String(amount));
  const pieces = piecesOf(added, range.max).map(range.write) as [FieldValue, ...FieldValue[]];
  return { pieces, zero: range.write(0n), guard: exactGuard(field, added, range) };
}

/** Numbers of a column times a power of ten, so that they are integers. */
interface ExactRange {
  readonly min: bigint;
  readonly max: bigint;
  read(amount: string): bigint;
  write(scaled: bigint): FieldValue;
}

function rangeOf(column: Column): ExactRange {
  if (column.type === 'int32') {
    const write = (value: bigint): Int32 => new Int32(Number(value));
    return { min: BigInt(INT32_MIN), max: BigInt(INT32_MAX), read: BigInt, write };
  }
  if (column.type === 'int64') return { min: INT64_MIN, max: INT64_MAX, read: BigInt, write: Long.fromBigInt };
  const scale = decimalScale(column);
  const max = 10n ** BigInt(decimalPrecision(column)) - 1n;
  return {
    min: -max,
    max,
    read: (amount) => floorToScale(decimalOf(amount), scale).scaled,
    write: (scaled) => Decimal128.fromString(scaledText(scaled, scale)),
  };
}

function piecesOf(amount: bigint, max: bigint): bigint[] {
  const pieces: bigint[] = [];
  let left = amount;
  while (left > max || left < -max) {
    const piece = left > 0n ? max : -max;
    pieces.push(piece);
    left -= piece;
  }
  return [...pieces, left];
}

/** Condition for the range of an exact sum. NULL counts as 0 (contract section 4). */
function exactGuard(field: string, amount: bigint, { min, max, write }: ExactRange): Document | null {
  if (amount === 0n) return null;
  const last = amount > 0n ? max - amount : min - amount;
  if (last < min || last > max) return NOTHING;
  const isNullAllowed = amount > 0n ? last >= 0n : last <= 0n;
  if (isNullAllowed) return { [field]: { $not: amount > 0n ? { $gt: write(last) } : { $lt: write(last) } } };
  return { [field]: amount > 0n ? { $lte: write(last) } : { $gte: write(last) } };
}

/** A smaller amount cannot round even the largest double up to infinity. */
const HARMLESS_AMOUNT = 2 ** 969;

function floatGuard(field: string, amount: number): Document | null {
  if (Math.abs(amount) < HARMLESS_AMOUNT) return null;
  const sum = { $add: [{ $ifNull: [`$${field}`, new Double(0)] }, new Double(amount)] };
  return { $expr: { $lte: [{ $abs: sum }, new Double(Number.MAX_VALUE)] } };
}
