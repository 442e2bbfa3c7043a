import { isChangedByDouble } from './json-value.ts';

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const UPPER_E = 0x45;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;

/** Cheap and never wrong in one direction: text without a match holds no number that a double changes. */
const MAY_CHANGE = /[0-9.]{16}|[0-9][eE]/;

/** Whether the native `JSON.parse` of this valid text would give another value for one of its numbers. */
export function changesNumbers(text: string): boolean {
  if (!MAY_CHANGE.test(text)) return false;
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      position = endOfString(text, position);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, position);
      if (isChangedByDouble(text.slice(position, end))) return true;
      position = end;
    }
  }
  return false;
}

/** The position of the closing quote. */
function endOfString(text: string, start: number): number {
  let position = start + 1;
  while (position < text.length && text.charCodeAt(position) !== QUOTE) {
    position += text.charCodeAt(position) === BACKSLASH ? 2 : 1;
  }
  return position;
}

/** The position behind the last character of a number. */
function endOfNumber(text: string, start: number): number {
  for (let position = start; ; position++) {
    const code = text.charCodeAt(position);
    const isDigit = code >= ZERO && code <= NINE;
    const isMark = code === POINT || code === MINUS || code === PLUS || code === LOWER_E || code === UPPER_E;
    if (!isDigit && !isMark) return position;
  }
}
