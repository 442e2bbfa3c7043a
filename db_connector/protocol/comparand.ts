import type { Column } from './columns.ts';
import { type Decimal, floorToScale, integerDigits, scaledText } from './decimal.ts';
import { ApiError } from './errors.ts';
import { foldText } from './fold.ts';
import { isJsonObject, type Json, JsonNumber } from './json-value.ts';
import { INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, MAX_BYTES_LENGTH, MAX_DECIMAL_PRECISION } from './limits.ts';
import { kindOf, relabelled } from './value-fault.ts';
import { decimalPrecision, decimalScale, exactDecimal } from './value-numbers.ts';
import { decodeBase64, isAtMostLong, isStorableText, maxLength } from './value-texts.ts';
import { readDate, readDatetime, type TimeReading } from './value-times.ts';
import { parseValue, type Value } from './values.ts';

/**
 * Where the value of a condition lies among the values that the column can hold. One that no row can hold still has its
 * place in their order, so that it "matches as it would if it could be held" (contract section 5).
 */
export type Comparand =
  | { readonly at: 'value'; readonly value: Value }
  /** Equal to none, and the engine can compare it as it is: text that is too long. */
  | { readonly at: 'unequal'; readonly value: Value }
  /** Right above `below`, with nothing that can be held in between: 1.234 above 1.23 at scale 2. */
  | { readonly at: 'gapAfter'; readonly below: Value }
  /** Right below `above`, with nothing that can be held in between. */
  | { readonly at: 'gapBefore'; readonly above: Value }
  | { readonly at: 'belowAll' }
  | { readonly at: 'aboveAll' }
  /** Equal to none, of a type without order. */
  | { readonly at: 'nowhere' };

/** Throws `invalid_filter` for a value of the wrong type, and for a number that overflows a double. */
export function parseComparand(column: Column, json: Json, path: string): Comparand {
  if (json instanceof JsonNumber && json.overflows) throw filterFault(path, 'a number that no double holds');
  switch (column.type) {
    case 'int32':
      if (isWithin(json, INT32_MIN, INT32_MAX)) return { at: 'value', value: json === 0 ? 0 : json };
      return onGrid(number(json, false, path), 0, BigInt(INT32_MIN), BigInt(INT32_MAX), Number);
    case 'int64':
      if (isWithin(json, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)) return { at: 'value', value: BigInt(json) };
      return onGrid(number(json, false, path), 0, INT64_MIN, INT64_MAX, (scaled) => scaled);
    case 'decimal':
      return decimalComparand(column, json, path);
    case 'string':
    case 'text':
      return textComparand(column, json, path);
    case 'json':
      return jsonComparand(column, json, path);
    case 'datetime':
      return timeComparand(readDatetime(json), json, path, 'a time');
    case 'date':
      return timeComparand(readDate(json), json, path, 'a day');
    case 'bytes':
      return bytesComparand(json, path);
    default:
      return { at: 'value', value: held(column, json, path) };
  }
}

/** Most numbers of filters, which need no digits to be compared. */
function isWithin(json: Json, min: number, max: number): json is number {
  return typeof json === 'number' && Number.isInteger(json) && json >= min && json <= max;
}

export function filterFault(path: string, reason: string): ApiError {
  return new ApiError('invalid_filter', `${path}: ${reason}`);
}

/** The value as a row holds it; one that does not fit is of the wrong type here. */
function held(column: Column, json: Json, path: string): Value {
  return relabelled('invalid_filter', () => parseValue({ ...column, nullable: false }, json, path));
}

function number(json: Json, takesText: boolean, path: string): Decimal {
  const exact = exactDecimal(json, takesText);
  if (exact === null) throw filterFault(path, `expected a number, got ${kindOf(json)}`);
  return exact;
}

/** The numbers from `min` to `max` in steps of 10^-scale; all three and the result's argument times 10^scale. */
function onGrid(
  exact: Decimal,
  scale: number,
  min: bigint,
  max: bigint,
  toValue: (scaled: bigint) => Value,
): Comparand {
  if (integerDigits(exact) > MAX_DECIMAL_PRECISION) return { at: exact.negative ? 'belowAll' : 'aboveAll' };
  const floor = floorToScale(exact, scale);
  if (floor.scaled < min) return { at: 'belowAll' };
  if (floor.scaled > max || (floor.scaled === max && !floor.exact)) return { at: 'aboveAll' };
  const value = toValue(floor.scaled);
  return floor.exact ? { at: 'value', value } : { at: 'gapAfter', below: value };
}

function decimalComparand(column: Column, json: Json, path: string): Comparand {
  const scale = decimalScale(column);
  const max = 10n ** BigInt(decimalPrecision(column)) - 1n;
  return onGrid(number(json, true, path), scale, -max, max, (scaled) => scaledText(scaled, scale));
}

function textComparand(column: Column, json: Json, path: string): Comparand {
  if (typeof json !== 'string') throw filterFault(path, `expected a string, got ${kindOf(json)}`);
  const text = isCutValue(column, json) ? json : searchedText(column, json);
  if (isStorableText(text)) {
    return { at: isAtMostLong(text, maxLength(column)) ? 'value' : 'unequal', value: text };
  }
  return unstorableText(text);
}

/** As which a text is looked for: folded where the column's own values are (contract section 11). */
export function searchedText(column: Column, text: string): string {
  return column.derived?.fold === true ? foldText(text, maxLength(column)) : text;
}

/**
 * Whether a text is what the column holds of a longer one that was cut behind a space. It is compared as it is: a page goes on after
 * the last value that was read.
 */
function isCutValue(column: Column, text: string): boolean {
  if (column.derived?.fold !== true || !/\s$/u.test(text)) return false;
  return foldText(`${text}x`, maxLength(column)) === text;
}

/** In the order of UTF-8 bytes, all that goes on after a prefix is above U+0000, and a surrogate below U+E000. */
function unstorableText(text: string): Comparand {
  let end = 0;
  for (const character of text) {
    if (character === '\0') return { at: 'gapAfter', below: text.slice(0, end) };
    if (!character.isWellFormed()) return { at: 'gapBefore', above: `${text.slice(0, end)}\uE000` };
    end += character.length;
  }
  return { at: 'value', value: text };
}

/** Scalars only; the logical form of json is its text, which is equal for equal values. */
function jsonComparand(column: Column, json: Json, path: string): Comparand {
  if (Array.isArray(json) || isJsonObject(json)) throw filterFault(path, `expected a scalar, got ${kindOf(json)}`);
  if (typeof json === 'string' && !isStorableText(json)) return { at: 'nowhere' };
  if (json instanceof JsonNumber && Number(json.text) === 0) return { at: 'nowhere' };
  return { at: 'value', value: held(column, json, path) };
}

function timeComparand(reading: TimeReading, json: Json, path: string, expected: string): Comparand {
  if (reading === null) throw filterFault(path, `expected ${expected} that exists, got ${kindOf(json)}`);
  if ('text' in reading) return { at: 'value', value: reading.text };
  return { at: reading.outside === 'below' ? 'belowAll' : 'aboveAll' };
}

function bytesComparand(json: Json, path: string): Comparand {
  const bytes = decodeBase64(json);
  if (bytes === null) throw filterFault(path, `expected canonical base64, got ${kindOf(json)}`);
  return bytes.length > MAX_BYTES_LENGTH ? { at: 'nowhere' } : { at: 'value', value: bytes };
}
