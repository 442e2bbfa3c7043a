import { changesNumbers } from '../protocol/json.ts';

/** Never misses a number of 16 digits or more, or one with an exponent; what it finds may stand inside a string. */
const MAY_NEED_CARE = /[[:,]\s*(-?(?:[0-9.]{16}[0-9.]*(?:[eE][+-]?\d+)?|[0-9.]+[eE][+-]?\d+))/g;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * An answer's text as values: native where that is exact; else integers past 2^53 become BigInt, and other numbers that
 * a double would change stay text. Throws `SyntaxError` on text that is no JSON.
 *
 * The careful reader takes five times as long as the native one, so it reads only what has a number that needs it:
 * coordinates have 17 digits and need none.
 */
export function readJson(text: string): unknown {
  MAY_NEED_CARE.lastIndex = 0;
  for (let match = MAY_NEED_CARE.exec(text); match !== null; match = MAY_NEED_CARE.exec(text)) {
    if (needsCare(match[1] ?? '')) return JSON.parse(text, keepDigits);
  }
  return JSON.parse(text);
}

/** A fraction that a double writes in the same digits is the first case, since it is the common and the cheap one. */
function needsCare(digits: string): boolean {
  if (digits.includes('.') && String(Number(digits)) === digits) return false;
  return isBigInteger(digits) || changesNumbers(digits);
}

/** A double may hold an integer past 2^53 exactly; it becomes a BigInt all the same, so that a column has one type. */
function isBigInteger(digits: string): boolean {
  if (!LONG_INTEGER.test(digits)) return false;
  return Math.abs(Number(digits)) > 2 ** 53 || BigInt(digits) !== BigInt(Number(digits));
}

/** TypeScript's library does not name the third argument yet; Node.js has it from version 21. */
function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  if (isBigInteger(source)) return BigInt(source);
  return changesNumbers(source) ? source : value;
}
