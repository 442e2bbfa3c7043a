import { decimalOf, isSameDecimal, plainText, scientificText } from './decimal.ts';

/**
 * Value of a JSON text. Numbers count by value: `1.0` and `1` are the same number. A plain number stands for the digits
 * that it prints; beyond 2^53 those are not always the digits of `BigInt(number)`, so take `BigInt(numberText(number))`.
 */
export type Json = null | boolean | number | JsonNumber | string | Json[] | JsonObject;

/** Read objects inherit nothing: `row['constructor']` is undefined unless the text has it. */
export interface JsonObject {
  [name: string]: Json;
}

/** A number whose digits a double does not give back, kept as text. Make one with `exactNumber`. */
export class JsonNumber {
  /** Canonical: equal numbers have equal texts. */
  readonly text: string;
  /** No double is as large. */
  readonly overflows: boolean;

  constructor(text: string, overflows: boolean) {
    this.text = text;
    this.overflows = overflows;
  }

  /** So that a native `JSON.stringify` keeps the digits too. */
  toJSON(): unknown {
    return rawJson(this.text);
  }

  toString(): string {
    return this.text;
  }
}

/** Node.js has it from version 22; TypeScript's library does not name it yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

export type JsonErrorKind = 'syntax' | 'duplicate' | 'proto' | 'depth' | 'overflow';

/**
 * Text that the strict reader refuses. `position` counts UTF-16 code units from the beginning; `property` is that of the
 * outermost object in which it lies, '' before the first.
 */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly kind: JsonErrorKind;
  readonly position: number;
  readonly property: string;

  constructor(kind: JsonErrorKind, position: number, message: string, property = '') {
    super(`${message} at position ${position}`);
    this.kind = kind;
    this.position = position;
    this.property = property;
  }
}

const NUMBER_GRAMMAR = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Where an exact number is written out: 34 digits with any scale that a decimal column may have, and some more. */
const PLAIN_POINT_LIMIT = 40;
/** A double gives back 15 significant digits, away from the ends of its range. */
const SAFE_SIGNIFICANT_DIGITS = 15;

/** A plain number where a double gives every digit back, else a `JsonNumber`. Throws `JsonError` on other text. */
export function exactNumber(text: string): number | JsonNumber {
  if (!NUMBER_GRAMMAR.test(text)) throw new JsonError('syntax', 0, 'not a number');
  return exactNumberOfToken(text);
}

/** The same for text that the reader has already found to be a number. */
export function exactNumberOfToken(token: string): number | JsonNumber {
  const double = Number(token);
  if (token.length <= SAFE_SIGNIFICANT_DIGITS && !hasExponent(token)) return double === 0 ? 0 : double;
  if (String(double) === token) return double;
  const exact = decimalOf(token);
  if (Number.isFinite(double) && isSameDecimal(decimalOf(String(double)), exact)) return double === 0 ? 0 : double;
  const isPlain = Math.abs(exact.point) <= PLAIN_POINT_LIMIT;
  return new JsonNumber(isPlain ? plainText(exact) : scientificText(exact), !Number.isFinite(double));
}

/** Whether a native `JSON.parse` gives another value than this number's own. */
export function isChangedByDouble(token: string): boolean {
  if (token.length <= SAFE_SIGNIFICANT_DIGITS && !hasExponent(token)) return false;
  const double = Number(token);
  if (String(double) === token) return false;
  return !Number.isFinite(double) || !isSameDecimal(decimalOf(String(double)), decimalOf(token));
}

function hasExponent(token: string): boolean {
  return token.includes('e') || token.includes('E');
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** Canonical text: 1.0 → "1", 1e2 → "100", -0 → "0"; huge exponents stay exponents. */
export function numberText(value: number | JsonNumber): string {
  if (typeof value !== 'number') return value.text;
  if (!Number.isFinite(value)) throw new TypeError('a number that is not finite has no JSON text');
  return value === 0 ? '0' : String(value);
}
