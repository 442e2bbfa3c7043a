import type { Column } from './columns.ts';
import { isJsonObject, type Json, JsonNumber } from './json-value.ts';
import { writeJson } from './json-writer.ts';
import { DEFAULT_STRING_LENGTH, MAX_BYTES_LENGTH, MAX_JSON_COLUMN_DEPTH, MAX_TEXT_LENGTH } from './limits.ts';
import { invalidValue, kindOf, valueTooLong } from './value-fault.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** In code points. */
export function maxLength(column: Column): number {
  return column.type === 'string' ? (column.length ?? DEFAULT_STRING_LENGTH) : MAX_TEXT_LENGTH;
}

/** No more code points than this; counts only where the code units do not decide. */
export function isAtMostLong(text: string, codePoints: number): boolean {
  if (text.length <= codePoints) return true;
  if (text.length > 2 * codePoints) return false;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isPairStart = code >= 0xd800 && code <= 0xdbff;
    if (isPairStart && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) i++;
    count++;
  }
  return count <= codePoints;
}

/** Every engine keeps it: no U+0000, no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

export function parseText(column: Column, json: Json, path: string): string {
  if (typeof json !== 'string') throw invalidValue(path, 'a string', kindOf(json));
  const length = maxLength(column);
  if (!isAtMostLong(json, length)) throw valueTooLong(path, `at most ${length} characters`);
  if (!isStorableText(json)) throw invalidValue(path, 'text without U+0000 and lone surrogates', 'such text');
  return json;
}

export function parseUuid(json: Json, path: string): string {
  if (typeof json === 'string' && UUID.test(json)) return json.toLowerCase();
  throw invalidValue(path, 'a UUID with hyphens', kindOf(json));
}

export function parseBytes(json: Json, path: string): Uint8Array {
  const bytes = decodeBase64(json);
  if (bytes === null) throw invalidValue(path, 'canonical base64 with padding', kindOf(json));
  if (bytes.length > MAX_BYTES_LENGTH) throw valueTooLong(path, `at most ${MAX_BYTES_LENGTH} bytes`);
  return bytes;
}

/** Null if it is not canonical: other padding, other letters, bits left over. */
export function decodeBase64(json: Json): Uint8Array | null {
  if (typeof json !== 'string' || json.length % 4 !== 0 || !BASE64.test(json)) return null;
  const buffer = Buffer.from(json, 'base64');
  // A copy: a small Buffer is a view into a shared pool, and the whole pool would be sent to another thread.
  return buffer.toString('base64') === json ? new Uint8Array(buffer) : null;
}

/** Logical form: the text of the same value without spaces, numbers canonical, properties in their order. */
export function parseJsonColumn(json: Json, path: string): string {
  checkJson(json, path, 0);
  return writeJson(json);
}

function checkJson(json: Json, path: string, depth: number): void {
  if (typeof json === 'string') {
    if (!isStorableText(json)) throw invalidValue(path, 'text without U+0000 and lone surrogates', 'such text');
  } else if (json instanceof JsonNumber) {
    // Zero is never a JsonNumber: what becomes zero is too small for a double.
    const double = Number(json.text);
    if (!Number.isFinite(double) || double === 0) throw invalidValue(path, 'a number that a double holds', 'another');
  } else if (Array.isArray(json)) {
    checkDepth(path, depth + 1);
    for (const member of json) checkJson(member, path, depth + 1);
  } else if (isJsonObject(json)) {
    checkDepth(path, depth + 1);
    for (const name of Object.keys(json)) {
      checkJson(name, path, depth + 1);
      checkJson(json[name] ?? null, path, depth + 1);
    }
  }
}

function checkDepth(path: string, depth: number): void {
  if (depth > MAX_JSON_COLUMN_DEPTH) throw invalidValue(path, `at most ${MAX_JSON_COLUMN_DEPTH} levels`, 'more');
}
