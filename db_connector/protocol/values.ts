import type { Column } from './columns.ts';
import { type Json, numberText } from './json-value.ts';
import { invalidValue } from './value-fault.ts';
import { parseDecimal, parseFloat64, parseInt32, parseInt64 } from './value-numbers.ts';
import { parseBytes, parseJsonColumn, parseText, parseUuid } from './value-texts.ts';
import { parseDate, parseDatetime } from './value-times.ts';

/**
 * A value of a column in the form that is the same on every engine:
 * int32 number, int64 bigint, decimal plain digits ("-12.5"), float64 number (never -0), bool boolean, string and text
 * string, json the normalised JSON text, datetime "YYYY-MM-DDTHH:MM:SS.mmmZ", date "YYYY-MM-DD", uuid lower case,
 * bytes Uint8Array; null for NULL.
 */
export type Value = null | boolean | number | bigint | string | Uint8Array;

/**
 * The value that JSON stands for in this column (contract section 4). Throws `invalid_value` or `value_too_long` with
 * `path` before the reason: "rows[3].name: expected …, got …".
 */
export function parseValue(column: Column, json: Json, path: string = column.name): Value {
  if (json === null) {
    if (column.nullable) return null;
    throw invalidValue(path, 'a value', 'null');
  }
  return parsePresentValue(column, json, path);
}

function parsePresentValue(column: Column, json: Json, path: string): Value {
  const { type } = column;
  switch (type) {
    case 'int32':
      return parseInt32(json, path);
    case 'int64':
      return parseInt64(json, path);
    case 'decimal':
      return parseDecimal(column, json, path);
    case 'float64':
      return parseFloat64(json, path);
    case 'bool':
      if (typeof json === 'boolean') return json;
      throw invalidValue(path, 'true or false', 'something else');
    case 'string':
    case 'text':
      return parseListedText(column, json, path);
    case 'json':
      return parseJsonColumn(json, path);
    case 'datetime':
      return parseDatetime(json, path);
    case 'date':
      return parseDate(json, path);
    case 'uuid':
      return parseUuid(json, path);
    case 'bytes':
      return parseBytes(json, path);
    default:
      return type satisfies never;
  }
}

function parseListedText(column: Column, json: Json, path: string): string {
  const text = parseText(column, json, path);
  if (column.oneOf === undefined || column.oneOf.includes(text)) return text;
  throw invalidValue(path, 'one of the values that the column declares', 'another');
}

/** JSON text of a value as it is returned: numbers digit for digit, bytes as base64. */
export function writeValue(column: Column, value: Value): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return numberText(value);
    case 'string':
      return column.type === 'decimal' || column.type === 'json' ? value : JSON.stringify(value);
    default:
      return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"`;
  }
}
