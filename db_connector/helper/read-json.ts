import { changesNumbers } from '../protocol/json.ts';

/** Never misses a number of 16 digits or more, or one with an exponent; what it finds may stand inside a string. */
const MAY_NEED_CARE = /[[:,]\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/;
const NUMBER = /-?\d[\d.eE+-]*/y;
const LONG_INTEGER = /^-?\d{16,}$/;

/**
 * An answer's text as values: native where that is exact; else integers past 2^53 become BigInt, and other numbers that
 * a double would change stay text. Throws `SyntaxError` on text that is no JSON.
 */
export function readJson(text: string): unknown {
  if (!MAY_NEED_CARE.test(text)) return JSON.parse(text);
  return hasBigInteger(text) || changesNumbers(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function hasBigInteger(text: string): boolean {
  for (let position = 0; position < text.length; position++) {
    const character = text.charAt(position);
    if (character === '"') {
      position = endOfString(text, position);
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = position;
      const digits = NUMBER.exec(text)?.[0] ?? character;
      if (isBigInteger(digits)) return true;
      position += digits.length - 1;
    }
  }
  return false;
}

/** Where the closing quote stands: the first one behind an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charAt(end - 1 - backslashes) === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
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
