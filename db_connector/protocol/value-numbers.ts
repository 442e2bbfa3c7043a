import type { Column } from './columns.ts';
import {
  type Decimal,
  decimalOf,
  floorToScale,
  fractionDigits,
  integerDigits,
  plainText,
  scaledText,
} from './decimal.ts';
import { type Json, JsonNumber, numberText } from './json-value.ts';
import {
  DEFAULT_DECIMAL_PRECISION,
  DEFAULT_DECIMAL_SCALE,
  INT32_MAX,
  INT32_MIN,
  INT64_MAX,
  INT64_MIN,
} from './limits.ts';
import { invalidValue, kindOf } from './value-fault.ts';

/** More integer digits than any column holds, so that nothing huge is ever written out. */
const MAX_INTEGER_DIGITS = 40;
const NUMERIC_STRING = /^-?\d+(?:\.\d+)?$/;

export function decimalPrecision(column: Column): number {
  return column.precision ?? DEFAULT_DECIMAL_PRECISION;
}

export function decimalScale(column: Column): number {
  return column.scale ?? Math.min(DEFAULT_DECIMAL_SCALE, decimalPrecision(column));
}

/** The exact number that a JSON number, or for decimals a numeric string, stands for; null if it is neither. */
export function exactDecimal(json: Json, takesText: boolean): Decimal | null {
  if (typeof json === 'number' || json instanceof JsonNumber) return decimalOf(numberText(json));
  if (takesText && typeof json === 'string' && NUMERIC_STRING.test(json)) return decimalOf(json);
  return null;
}

export function parseInt32(json: Json, path: string): number {
  if (typeof json === 'number' && Number.isInteger(json) && json >= INT32_MIN && json <= INT32_MAX)
    return json === 0 ? 0 : json;
  throw integerFault(json, path, `${INT32_MIN} to ${INT32_MAX}`);
}

export function parseInt64(json: Json, path: string): bigint {
  const integer = integerOf(json);
  if (integer !== null && integer >= INT64_MIN && integer <= INT64_MAX) return integer;
  throw integerFault(json, path, `${INT64_MIN} to ${INT64_MAX}`);
}

function integerOf(json: Json): bigint | null {
  if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
  // Beyond 2^53 a double stands for the digits that it prints, which are not those of `BigInt(json)`.
  const exact = exactDecimal(json, false);
  if (exact === null || fractionDigits(exact) > 0 || integerDigits(exact) > MAX_INTEGER_DIGITS) return null;
  return BigInt(plainText(exact));
}

function integerFault(json: Json, path: string, range: string): Error {
  const isNumber = typeof json === 'number' || json instanceof JsonNumber;
  return invalidValue(path, `an integer from ${range}`, isNumber ? 'another number' : kindOf(json));
}

/** Logical form: plain digits without trailing zeros, "-12.5". */
export function parseDecimal(column: Column, json: Json, path: string): string {
  const exact = exactDecimal(json, true);
  if (exact === null) throw invalidValue(path, 'a number or a numeric string', kindOf(json));
  const scale = decimalScale(column);
  const digits = decimalPrecision(column) - scale;
  if (fractionDigits(exact) > scale) throw invalidValue(path, `at most ${scale} digits after the point`, 'more');
  if (integerDigits(exact) > digits) throw invalidValue(path, `at most ${digits} digits before the point`, 'more');
  return plainText(exact);
}

export function parseFloat64(json: Json, path: string): number {
  const double = json instanceof JsonNumber ? Number(json.text) : json;
  if (typeof double !== 'number') throw invalidValue(path, 'a number', kindOf(json));
  if (!Number.isFinite(double)) throw invalidValue(path, 'a number that a double holds', 'a larger one');
  return double === 0 ? 0 : double;
}

/** With a larger amount every result is out of range, whatever it is added to. */
const MAX_INTEGER_AMOUNT = 2n ** 64n;

/**
 * Amount that `inc` adds, in the logical form: a bigint for both integers, digits for decimals, a number for doubles. Only the
 * result is checked against the column (contract section 4), so the amount may lie outside of its range; one that leads
 * out of range in any case is cut to ±2^64 or, for decimals, ±10^(digits before the point + 1).
 */
export function parseAmount(column: Column, json: Json, path: string): bigint | string | number {
  switch (column.type) {
    case 'int32':
    case 'int64':
      return integerAmount(json, path);
    case 'decimal':
      return decimalAmount(column, json, path);
    default:
      return parseFloat64(json, path);
  }
}

function integerAmount(json: Json, path: string): bigint {
  const exact = exactDecimal(json, false);
  if (exact === null || fractionDigits(exact) > 0) throw invalidValue(path, 'an integer', kindOf(json));
  if (integerDigits(exact) > MAX_INTEGER_DIGITS) return exact.negative ? -MAX_INTEGER_AMOUNT : MAX_INTEGER_AMOUNT;
  const amount = BigInt(plainText(exact));
  if (amount > MAX_INTEGER_AMOUNT) return MAX_INTEGER_AMOUNT;
  return amount < -MAX_INTEGER_AMOUNT ? -MAX_INTEGER_AMOUNT : amount;
}

function decimalAmount(column: Column, json: Json, path: string): string {
  const exact = exactDecimal(json, true);
  if (exact === null) throw invalidValue(path, 'a number or a numeric string', kindOf(json));
  const scale = decimalScale(column);
  if (fractionDigits(exact) > scale) throw invalidValue(path, `at most ${scale} digits after the point`, 'more');
  const point = decimalPrecision(column) - scale + 2;
  if (integerDigits(exact) >= point) return plainText({ negative: exact.negative, digits: '1', point });
  return plainText(exact);
}

/**
 * A number column's value plus an amount of `parseAmount`, in the logical form; NULL counts 0. Null if the column does
 * not hold the sum.
 */
export function addAmount(
  column: Column,
  value: bigint | string | number | null,
  amount: bigint | string | number,
): bigint | string | number | null {
  switch (column.type) {
    case 'int32': {
      const sum = BigInt(value ?? 0) + BigInt(amount);
      return sum >= INT32_MIN && sum <= INT32_MAX ? Number(sum) : null;
    }
    case 'int64': {
      const sum = BigInt(value ?? 0) + BigInt(amount);
      return sum >= INT64_MIN && sum <= INT64_MAX ? sum : null;
    }
    case 'decimal':
      return decimalSum(column, String(value ?? 0), String(amount));
    default: {
      const sum = Number(value ?? 0) + Number(amount);
      if (!Number.isFinite(sum)) return null;
      return sum === 0 ? 0 : sum;
    }
  }
}

function decimalSum(column: Column, value: string, amount: string): string | null {
  const scale = decimalScale(column);
  const scaled = (text: string): bigint => floorToScale(decimalOf(text), scale).scaled;
  const sum = scaled(value) + scaled(amount);
  const limit = 10n ** BigInt(decimalPrecision(column));
  return sum < limit && sum > -limit ? scaledText(sum, scale) : null;
}
