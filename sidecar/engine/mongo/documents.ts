import type { Document } from 'mongodb';
import { Decimal128, Double, Int32, Long } from 'mongodb';
import type { Column } from '#protocol/columns.ts';
import { decimalOf, plainText } from '#protocol/decimal.ts';
import type { Value } from '#protocol/values.ts';
import { HIDDEN_ID, physicalTable } from '../model/physical-names.ts';
import type { TableTarget } from '../rows.ts';

/**
 * Rows as documents. A document has `_id` (an ObjectId of the sidecar), a field for each column that is not NULL, and
 * `_n` if the table has no key. `_ops` holds ids of writes with an idempotency key while they may be repeated, so that
 * no write is applied twice. `_q_` with the mark of a journal is the
 * last write of that journal that was applied to the document: each journal has its own, so that it can go on after a
 * crash although others have written meanwhile.
 */
export const ORDER_FIELD = '_n';
export const MARKS_FIELD = '_ops';
/** Mark of the only journal that applied to a namespace, in documents of versions before 2026-12. */
export const OWNED_MARK_FIELD = '_q';

/** Unique index over the columns of the primary key. */
export const KEY_INDEX = '_key';

/** Value of a field; NULL is an absent field. */
export type FieldValue = Int32 | Long | Decimal128 | Double | boolean | string | Date;

export function collectionOf({ namespace, table, physical }: TableTarget): string {
  return physical ?? physicalTable(namespace, table.name);
}

/** The hidden row id of a storage form (`Transfer`) is the order of insertion; its own `_id` is no row value. */
export function fieldOf(column: string): string {
  return column === HIDDEN_ID ? ORDER_FIELD : column;
}

/** Only for a value that the column can hold, as `parseValue` returns it. */
export function toBson(column: Column, value: NonNullable<Value>): FieldValue {
  const { type } = column;
  switch (type) {
    case 'int32':
      return new Int32(Number(value));
    case 'int64':
      return Long.fromBigInt(value as bigint);
    case 'decimal':
      return Decimal128.fromString(String(value));
    case 'float64':
      return new Double(Number(value));
    case 'bool':
      return value as boolean;
    case 'string':
    case 'text':
    case 'json':
    case 'date':
    case 'uuid':
      return value as string;
    case 'datetime':
      return new Date(value as string);
    case 'bytes':
      return orderedText(value as Uint8Array);
    default:
      return type satisfies never;
  }
}

/** Own value of a field: a document of the driver inherits `constructor`, which is a legal name of a column. */
export function valueIn(document: Document, field: string): unknown {
  return Object.hasOwn(document, field) ? document[field] : undefined;
}

/**
 * The inverse of `toBson`, also for a number to which arithmetic of the server has given another type. `undefined` and
 * null are NULL.
 */
export function fromBson(column: Column, value: unknown): Value {
  if (value === undefined || value === null) return null;
  const { type } = column;
  switch (type) {
    case 'int32':
    case 'float64':
      return Number(value) === 0 ? 0 : Number(value);
    case 'int64':
      return BigInt(String(value));
    case 'decimal':
      return plainText(decimalOf(String(value)));
    case 'bool':
      return value as boolean;
    case 'string':
    case 'text':
    case 'json':
    case 'date':
    case 'uuid':
      return value as string;
    case 'datetime':
      return (value as Date).toISOString();
    case 'bytes':
      return bytesOf(value as string);
    default:
      return type satisfies never;
  }
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const ORDERED = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const TO_ORDERED = codeTable(BASE64URL, ORDERED);
const FROM_ORDERED = codeTable(ORDERED, BASE64URL);

/** Text with the order of the bytes: base64 with its letters in order. MongoDB sorts binary data by length first. */
function orderedText(bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
  return translated(base64, TO_ORDERED);
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(translated(text, FROM_ORDERED), 'base64url'));
}

function translated(text: string, codes: Uint8Array): string {
  const letters = Buffer.from(text, 'latin1');
  for (let i = 0; i < letters.length; i++) letters[i] = codes[letters[i] as number] as number;
  return letters.toString('latin1');
}

function codeTable(from: string, to: string): Uint8Array {
  const codes = new Uint8Array(256);
  for (let i = 0; i < from.length; i++) codes[from.charCodeAt(i)] = to.charCodeAt(i);
  return codes;
}
