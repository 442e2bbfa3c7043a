import { changesNumbers } from '../protocol/json.ts';

/** Never misses a number of 16 digits or more, or one with an exponent; what it finds may stand inside a string. */
const MAY_NEED_CARE = /[[:,]\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/;
/** Strings are matched first, so that digits inside of them are not. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * An answer's text as values: native where that is exact; else integers past 2^53 become BigInt, and other numbers that
 * a double would change stay text. Throws `SyntaxError` on text that is no JSON.
 */
export function readJson(text: string): unknown {
  if (!MAY_NEED_CARE.test(text) || !needsCare(text)) return JSON.parse(text);
  return JSON.parse(text, keepDigits);
}

function needsCare(text: string): boolean {
  for (const [token] of text.matchAll(TOKENS)) {
    if (LONG_INTEGER.test(token) && !isSafeInteger(token)) return true;
  }
  return changesNumbers(text);
}

/** A double may hold an integer past 2^53 exactly; it becomes a BigInt all the same, so that a column has one type. */
function isSafeInteger(digits: string): boolean {
  return Math.abs(Number(digits)) <= Number.MAX_SAFE_INTEGER + 1 && BigInt(Number(digits)) === BigInt(digits);
}

/** TypeScript's library does not name the third argument yet; Node.js has it from version 21. */
function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  if (LONG_INTEGER.test(source)) return isSafeInteger(source) ? value : BigInt(source);
  return changesNumbers(source) ? source : value;
}
