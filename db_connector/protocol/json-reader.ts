import type { JsonObject } from './json-value.ts';
import { exactNumberOfToken, type Json, JsonError, type JsonErrorKind, type JsonNumber } from './json-value.ts';
import { MAX_JSON_DEPTH } from './limits.ts';
import { shownName } from './unknown-names.ts';

const SPACE = 0x20;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const LEFT_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const RIGHT_BRACKET = 0x5d;
const LOWER_E = 0x65;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;

/** Integers up to this many digits are added up while they are read. */
const QUICK_DIGITS = 15;

export interface ParseOptions {
  /** How deep arrays and objects may nest; a lone array has depth 1. */
  readonly maxDepth?: number;
  /** Handling of a number beyond the range of a double: refuse it, or keep it as a `JsonNumber` that says so. */
  readonly overflow?: 'refuse' | 'keep';
}

/**
 * The strict reader: RFC 8259 with every digit kept, and without what reads in two ways (a property twice) or is an
 * attack in JavaScript (`__proto__`). Throws `JsonError`.
 */
export function parseJson(text: string, options: ParseOptions = {}): Json {
  return new JsonReader(text, options).read();
}

class JsonReader {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #keepsOverflow: boolean;
  #position = 0;
  /** The property of the outermost object that is being read. */
  #property = '';

  constructor(text: string, options: ParseOptions) {
    this.#text = text;
    this.#maxDepth = options.maxDepth ?? MAX_JSON_DEPTH;
    this.#keepsOverflow = options.overflow === 'keep';
  }

  read(): Json {
    const value = this.#readValue(0);
    if (this.#skipSpace() === this.#text.length) return value;
    throw this.#unexpected();
  }

  #readValue(depth: number): Json {
    const position = this.#skipSpace();
    const code = this.#text.charCodeAt(position);
    switch (code) {
      case QUOTE:
        return this.#readString();
      case LEFT_BRACE:
        return this.#readObject(depth + 1);
      case LEFT_BRACKET:
        return this.#readArray(depth + 1);
      case LOWER_T:
        return this.#readWord('true', true);
      case LOWER_F:
        return this.#readWord('false', false);
      case LOWER_N:
        return this.#readWord('null', null);
      default:
        return this.#readNumber();
    }
  }

  #readObject(depth: number): JsonObject {
    this.#enter(depth);
    // Also what keeps a payload with other names in every object quick: no hidden class for each of them.
    const object: JsonObject = Object.create(null);
    if (this.#text.charCodeAt(this.#skipSpace()) === RIGHT_BRACE) {
      this.#position++;
      return object;
    }
    for (;;) {
      this.#readProperty(object, depth);
      const code = this.#text.charCodeAt(this.#skipSpace());
      if (code !== COMMA && code !== RIGHT_BRACE) throw this.#unexpected();
      this.#position++;
      if (code === RIGHT_BRACE) return object;
      this.#skipSpace();
    }
  }

  #readProperty(object: JsonObject, depth: number): void {
    const start = this.#position;
    if (this.#text.charCodeAt(start) !== QUOTE) throw this.#unexpected();
    const name = this.#readString();
    if (this.#text.charCodeAt(this.#skipSpace()) !== COLON) throw this.#unexpected();
    if (object[name] !== undefined)
      throw this.#refused('duplicate', start, `the property name ${shownName(name)} stands twice`);
    if (name === '__proto__') throw this.#refused('proto', start, 'the property name __proto__ is not allowed');
    this.#position++;
    if (depth === 1) this.#property = name;
    object[name] = this.#readValue(depth);
  }

  #readArray(depth: number): Json[] {
    this.#enter(depth);
    const array: Json[] = [];
    if (this.#text.charCodeAt(this.#skipSpace()) === RIGHT_BRACKET) {
      this.#position++;
      return array;
    }
    for (;;) {
      array.push(this.#readValue(depth));
      const code = this.#text.charCodeAt(this.#skipSpace());
      if (code !== COMMA && code !== RIGHT_BRACKET) throw this.#unexpected();
      this.#position++;
      if (code === RIGHT_BRACKET) return array;
    }
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) {
      throw this.#refused('depth', this.#position, `more than ${this.#maxDepth} levels deep`);
    }
    this.#position++;
  }

  /** The end is found here; what holds a backslash is unescaped, and checked, by the native parser. */
  #readString(): string {
    const text = this.#text;
    const start = this.#position + 1;
    let position = start;
    let isEscaped = false;
    for (;;) {
      const code = text.charCodeAt(position);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        isEscaped = true;
        position += 2;
      } else if (code >= SPACE) {
        position++;
      } else {
        this.#position = position;
        throw this.#unexpected();
      }
    }
    this.#position = position + 1;
    return isEscaped ? this.#unescape(start - 1, position + 1) : text.slice(start, position);
  }

  #unescape(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end));
    } catch {
      throw this.#refused('syntax', start, 'a string that is not valid');
    }
  }

  #readNumber(): number | JsonNumber {
    const text = this.#text;
    const start = this.#position;
    const isNegative = text.charCodeAt(start) === MINUS;
    const digitsAt = isNegative ? start + 1 : start;
    let position = digitsAt;
    let value = 0;
    let code = text.charCodeAt(position);
    while (code >= ZERO && code <= NINE) {
      value = value * 10 + (code - ZERO);
      code = text.charCodeAt(++position);
    }
    const digits = position - digitsAt;
    this.#position = position;
    if (digits === 0) throw this.#unexpected();
    if (digits > 1 && text.charCodeAt(digitsAt) === ZERO) throw this.#refused('syntax', start, 'a leading zero');
    if (digits <= QUICK_DIGITS && code !== POINT && code !== LOWER_E && code !== UPPER_E) {
      return isNegative && value !== 0 ? -value : value;
    }
    return this.#readLongNumber(start);
  }

  /** With a fraction, an exponent or many digits; its integer part has been read. */
  #readLongNumber(start: number): number | JsonNumber {
    if (this.#text.charCodeAt(this.#position) === POINT) {
      this.#position++;
      this.#readDigits();
    }
    const mark = this.#text.charCodeAt(this.#position);
    if (mark === LOWER_E || mark === UPPER_E) {
      const sign = this.#text.charCodeAt(++this.#position);
      if (sign === PLUS || sign === MINUS) this.#position++;
      this.#readDigits();
    }
    const number = exactNumberOfToken(this.#text.slice(start, this.#position));
    if (typeof number === 'number' || !number.overflows || this.#keepsOverflow) return number;
    throw this.#refused('overflow', start, 'a number that no double holds');
  }

  #readDigits(): void {
    const start = this.#position;
    for (;;) {
      const code = this.#text.charCodeAt(this.#position);
      if (!(code >= ZERO && code <= NINE)) break;
      this.#position++;
    }
    if (this.#position === start) throw this.#unexpected();
  }

  #readWord(word: string, value: boolean | null): boolean | null {
    if (!this.#text.startsWith(word, this.#position)) throw this.#unexpected();
    this.#position += word.length;
    return value;
  }

  #skipSpace(): number {
    let position = this.#position;
    for (;;) {
      const code = this.#text.charCodeAt(position);
      if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) break;
      position++;
    }
    this.#position = position;
    return position;
  }

  #refused(kind: JsonErrorKind, position: number, message: string): JsonError {
    return new JsonError(kind, position, message, this.#property);
  }

  #unexpected(): JsonError {
    const isEnd = this.#position >= this.#text.length;
    return this.#refused('syntax', this.#position, isEnd ? 'unexpected end' : 'unexpected character');
  }
}
