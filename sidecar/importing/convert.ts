import { ApiError } from '#protocol/errors.ts';
import { type Json, JsonError, parseJson } from '#protocol/json.ts';
import type { Column } from '#protocol/schema.ts';
import { parseValue, type Value } from '#protocol/values.ts';
import { quotedName } from './mysql-connection.ts';
import { isBinary, isGeometry, type SourceColumn } from './source.ts';
import type { TimeZone } from './time-zone.ts';

/** Expression for the list of a SELECT, so that every value comes as a text from which nothing is lost. */
export function selectSql(column: SourceColumn): string {
  const name = quotedName(column.name);
  if (isBinary(column)) return `HEX(${name})`;
  if (isGeometry(column)) return `ST_AsText(${name})`;
  if (column.dataType === 'bit') return `CAST(${name} + 0 AS CHAR)`;
  if (column.dataType === 'json') return `CAST(${name} AS CHAR)`;
  // As text MySQL rounds single precision to six digits.
  if (column.dataType === 'float') return `${name} + 0e0`;
  return name;
}

/** A zero date, or one without month or day, which only MySQL can hold. */
export function isZeroDate(text: string): boolean {
  return text.startsWith('0000-') || /^\d{4}-(00|\d\d-00)/.test(text);
}

/** Returns the logical value of a source text. Throws `ApiError` with the reason if it does not fit the column. */
export function converterOf(source: SourceColumn, target: Column, zone: TimeZone): (text: string | null) => Value {
  const read = jsonReader(source, target, zone);
  return (text) => parseValue(target, text === null ? null : read(text), target.name);
}

function jsonReader(source: SourceColumn, target: Column, zone: TimeZone): (text: string) => Json {
  switch (target.type) {
    case 'bool':
      return boolOf;
    case 'int32':
    case 'int64':
      return numberOf;
    case 'float64':
      return source.dataType === 'float' ? (text) => shortestSingle(Number(text)) : numberOf;
    case 'decimal':
      return plainDigits;
    case 'json':
      return jsonOf;
    case 'datetime':
      return (text) => timeOf(source, text, zone);
    case 'date':
      return (text) => (isZeroDate(text) ? null : text.slice(0, 10));
    case 'bytes':
      return (text) => Buffer.from(text, isBinary(source) ? 'hex' : 'utf8').toString('base64');
    case 'string':
    case 'text':
    case 'uuid':
      return isBinary(source) ? (text) => text.toLowerCase() : (text) => text;
    default:
      return target.type satisfies never;
  }
}

function boolOf(text: string): Json {
  if (text === '1') return true;
  return text === '0' ? false : text;
}

/** Without the zeros that ZEROFILL puts in front. */
function plainDigits(text: string): string {
  return text.replace(/^(-?)0+(?=\d)/, '$1');
}

function numberOf(text: string): Json {
  const digits = plainDigits(text.trim());
  return /^-?\d/.test(digits) ? jsonOf(digits) : text;
}

function jsonOf(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new ApiError('invalid_value', `expected JSON: ${error.message}`);
  }
}

/** The shortest digits that name the same number of single precision. */
function shortestSingle(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

/** TIMESTAMP arrives in UTC, because the session says so; DATETIME is naive. */
function timeOf(source: SourceColumn, text: string, zone: TimeZone): Json {
  if (isZeroDate(text)) return null;
  if (source.dataType === 'date') return `${text}T00:00:00${zone.offsetAt(`${text}T00:00:00`)}`;
  const iso = text.replace(' ', 'T');
  return source.dataType === 'datetime' ? `${iso}${zone.offsetAt(iso.slice(0, 19))}` : `${iso}Z`;
}
