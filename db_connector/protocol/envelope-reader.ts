import { ApiError } from './errors.ts';
import { JsonError, type JsonErrorKind } from './json-value.ts';
import { MAX_ENVELOPE_CHARS, MAX_JSON_DEPTH } from './limits.ts';

const SPACE = 0x20;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const SLASH = 0x2f;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LEFT_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const RIGHT_BRACKET = 0x5d;
const LOWER_A = 0x61;
const LOWER_B = 0x62;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_R = 0x72;
const LOWER_T = 0x74;
const LOWER_U = 0x75;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The value of a property, not yet read. */
export interface Token {
  readonly kind: 'string' | 'number' | 'other';
  /** As it is written, a string with its quotes; empty for `other`. */
  readonly source: string;
  /** UTF-16 code units of a string. */
  readonly units: number;
}

const OTHER: Token = { kind: 'other', source: '', units: 0 };

/** The string of a token of that kind. */
export function stringOf({ source, units }: Token): string {
  return units === source.length - 2 ? source.slice(1, -1) : JSON.parse(source);
}

/** The string of a token; null if it is none that fits. */
export function fittingString(token: Token | undefined, pattern: RegExp): string | null {
  if (token?.kind !== 'string') return null;
  const text = stringOf(token);
  return pattern.test(text) ? text : null;
}

/**
 * Reads the outermost object of a body: strict syntax, each name once, no `__proto__`. Builds nothing but the names and
 * reads at most `MAX_ENVELOPE_CHARS` characters beside `payload`, as the sender is not authenticated.
 *
 * @throws {JsonError | ApiError} 413 `payload_too_large`
 */
export function readMembers(text: string, maxPayloadChars: number): ReadonlyMap<string, Token> | null {
  return new EnvelopeReader(text, maxPayloadChars).read();
}

class EnvelopeReader {
  readonly #text: string;
  readonly #maxPayloadChars: number;
  readonly #members = new Map<string, Token>();
  #position = 0;
  /** Where reading stops. */
  #end: number;

  constructor(text: string, maxPayloadChars: number) {
    this.#text = text;
    this.#maxPayloadChars = maxPayloadChars;
    this.#end = Math.min(text.length, MAX_ENVELOPE_CHARS);
  }

  /** Null if the text is another JSON value. */
  read(): ReadonlyMap<string, Token> | null {
    const isObject = this.#skipSpace() === LEFT_BRACE;
    if (isObject) this.#list(RIGHT_BRACE, 1, () => this.#readMember());
    else this.#readValue(0);
    this.#skipSpace();
    if (this.#position < this.#text.length) throw this.#unexpected();
    return isObject ? this.#members : null;
  }

  #readMember(): void {
    const start = this.#position;
    const name = stringOf(this.#readName());
    if (this.#members.has(name)) throw this.#refused('duplicate', start, 'a property name stands twice');
    if (name === '__proto__') throw this.#refused('proto', start, 'the property name __proto__ is not allowed');
    this.#members.set(name, name === 'payload' ? this.#readPayload() : this.#readValue(1));
  }

  #readPayload(): Token {
    if (this.#skipSpace() !== QUOTE) return this.#readValue(1);
    const token = this.#readString(this.#text.length, this.#maxPayloadChars);
    this.#end = Math.min(this.#text.length, this.#end + token.source.length - 2);
    return token;
  }

  #readValue(depth: number): Token {
    switch (this.#skipSpace()) {
      case QUOTE:
        return this.#readString(this.#end);
      case LEFT_BRACE:
        return this.#list(RIGHT_BRACE, depth + 1, () => {
          this.#readName();
          this.#readValue(depth + 1);
        });
      case LEFT_BRACKET:
        return this.#list(RIGHT_BRACKET, depth + 1, () => this.#readValue(depth + 1));
      case LOWER_T:
        return this.#skipWord('true');
      case LOWER_F:
        return this.#skipWord('false');
      case LOWER_N:
        return this.#skipWord('null');
      default:
        return this.#readNumber();
    }
  }

  /** The items of an object or an array, from its opening character on. */
  #list(closing: number, depth: number, readItem: () => void): Token {
    if (depth > MAX_JSON_DEPTH) {
      throw this.#refused('depth', this.#position, `more than ${MAX_JSON_DEPTH} levels deep`);
    }
    this.#position += 1;
    if (this.#skipSpace() === closing) {
      this.#position += 1;
      return OTHER;
    }
    for (;;) {
      readItem();
      const code = this.#skipSpace();
      if (code !== COMMA && code !== closing) throw this.#unexpected();
      this.#position += 1;
      if (code === closing) return OTHER;
      this.#skipSpace();
    }
  }

  /** A property's name and its colon. */
  #readName(): Token {
    if (this.#skipSpace() !== QUOTE) throw this.#unexpected();
    const name = this.#readString(this.#end);
    if (this.#skipSpace() !== COLON) throw this.#unexpected();
    this.#position += 1;
    return name;
  }

  #readString(end: number, maxUnits = end): Token {
    const text = this.#text;
    const start = this.#position;
    let position = start + 1;
    let saved = 0;
    while (position < end) {
      const code = text.charCodeAt(position);
      if (code === QUOTE) {
        this.#position = position + 1;
        const source = text.slice(start, position + 1);
        return { kind: 'string', source, units: source.length - 2 - saved };
      }
      if (code === BACKSLASH) {
        const length = escapeLength(text, position);
        if (length === 0) throw this.#refused('syntax', start, 'a string that is not valid');
        position += length;
        saved += length - 1;
      } else if (code >= SPACE) {
        position += 1;
      } else {
        break;
      }
      if (position - start - 1 - saved > maxUnits) {
        throw new ApiError('payload_too_large', `payload: expected at most ${maxUnits} characters`);
      }
    }
    this.#position = position;
    throw this.#unexpected();
  }

  #readNumber(): Token {
    const start = this.#position;
    NUMBER.lastIndex = start;
    const source = NUMBER.exec(this.#text)?.[0] ?? '';
    if (source === '') throw this.#unexpected();
    this.#position += source.length;
    if (!Number.isFinite(Number(source))) throw this.#refused('overflow', start, 'a number that no double holds');
    return { kind: 'number', source, units: 0 };
  }

  #skipWord(word: string): Token {
    if (!this.#text.startsWith(word, this.#position)) throw this.#unexpected();
    this.#position += word.length;
    return OTHER;
  }

  /** The code of the next character that is no white space; NaN at the end. */
  #skipSpace(): number {
    while (this.#position < this.#end) {
      const code = this.#text.charCodeAt(this.#position);
      if (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB) return code;
      this.#position += 1;
    }
    if (this.#position < this.#text.length) throw this.#unexpected();
    return Number.NaN;
  }

  #refused(kind: JsonErrorKind, position: number, message: string): JsonError {
    return new JsonError(kind, position, message);
  }

  #unexpected(): JsonError | ApiError {
    if (this.#position >= this.#text.length) return this.#refused('syntax', this.#position, 'unexpected end');
    if (this.#position < this.#end) return this.#refused('syntax', this.#position, 'unexpected character');
    const message = `envelope: expected at most ${MAX_ENVELOPE_CHARS} characters beside the payload`;
    return new ApiError('payload_too_large', message);
  }
}

/** Characters of the escape that begins at `position`; 0 if it is none. */
function escapeLength(text: string, position: number): number {
  switch (text.charCodeAt(position + 1)) {
    case QUOTE:
    case BACKSLASH:
    case SLASH:
    case LOWER_B:
    case LOWER_F:
    case LOWER_N:
    case LOWER_R:
    case LOWER_T:
      return 2;
    case LOWER_U:
      for (let at = position + 2; at < position + 6; at += 1) if (!isHexDigit(text.charCodeAt(at))) return 0;
      return 6;
    default:
      return 0;
  }
}

function isHexDigit(code: number): boolean {
  const lower = code | 0x20;
  return (code >= ZERO && code <= NINE) || (lower >= LOWER_A && lower <= LOWER_F);
}
