import { JsonNumber } from '../protocol/json.ts';

/** Deeper is a ring of objects, or nothing that the sidecar would take. */
const MAX_DEPTH = 128;

/**
 * A plain value as JSON text: BigInt digit for digit, `Date` as ISO text, bytes as base64, `undefined` properties left
 * out.
 *
 * @param path how messages call the value
 * @throws TypeError that names the property, where JSON cannot say what is in it
 */
export function jsonText(value: unknown, path: string): string {
  return isPlain(value, MAX_DEPTH) ? JSON.stringify(value) : write(value, path, 0);
}

/**
 * Whether the native writer makes the same text, which takes it a third of the time, this look included: nothing in it but
 * text, finite numbers, booleans, null, plain objects and lists. Anything else, good or bad, is for the careful writer.
 */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || (depth > 0 && isPlainInside(value, depth - 1));
    default:
      return false;
  }
}

function isPlainInside(value: object, depth: number): boolean {
  if ('toJSON' in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    if (prototype !== Array.prototype) return false;
    for (const member of value) if (!isPlain(member, depth)) return false;
    return true;
  }
  if (prototype !== Object.prototype) return false;
  for (const name of Object.keys(value)) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (member !== undefined && !isPlain(member, depth)) return false;
  }
  return true;
}

function write(value: unknown, path: string, depth: number): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${path}: ${value} is no number that can be stored`);
      return JSON.stringify(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? 'null' : writeObject(value, path, depth + 1);
    case 'undefined':
      throw new TypeError(`${path}: undefined is no value; say null to store nothing`);
    default:
      throw new TypeError(`${path}: a ${typeof value} cannot be stored`);
  }
}

function writeObject(value: object, path: string, depth: number): string {
  if (depth > MAX_DEPTH) throw new TypeError(`${path}: too deep, or it contains itself`);
  if (Array.isArray(value)) return writeArray(value, path, depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const text = writeSpecial(value, path);
    if (text !== undefined) return text;
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), path, depth);
  let text = '';
  for (const name of Object.keys(value)) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[name];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${write(member, `${path}.${name}`, depth)}`;
  }
  return `{${text}}`;
}

/** As in `JSON.stringify`, a gap in a list is null. */
function writeArray(values: readonly unknown[], path: string, depth: number): string {
  let text = '';
  for (let index = 0; index < values.length; index++) {
    const member = values[index];
    text += index === 0 ? '' : ',';
    text += member === undefined ? 'null' : write(member, `${path}[${index}]`, depth);
  }
  return `[${text}]`;
}

/** undefined: the object counts by its properties, like any other. */
function writeSpecial(value: object, path: string): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new TypeError(`${path}: a Date that is no moment`);
    return JSON.stringify(value);
  }
  if (ArrayBuffer.isView(value)) {
    return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"`;
  }
  if (value instanceof ArrayBuffer) return `"${Buffer.from(value).toString('base64')}"`;
  if (value instanceof Promise) throw new TypeError(`${path}: a Promise cannot be stored; is an await missing?`);
  if (value instanceof Map || value instanceof Set) {
    throw new TypeError(`${path}: a ${value.constructor.name} cannot be stored; make it an object or a list`);
  }
  return undefined;
}

/**
 * JSON text in a place where an object is expected: a string there is the text itself, as builders return it, and
 * anything else a plain object.
 *
 * @throws TypeError if a string is not JSON text of an object, so that no text ever leaks out of its place
 */
export function objectText(value: unknown, path: string, hint: string): string {
  if (typeof value === 'string') {
    checkText(value, path, hint, isPlainObject);
    return value;
  }
  if (!isPlainObject(value)) throw new TypeError(`${path}: expected ${hint}, got ${kindOf(value)}`);
  return jsonText(value, path);
}

/** JSON text, checked to be what its place asks for, and nothing beside it. */
export function checkText(text: string, path: string, hint: string, isRight: (value: unknown) => boolean): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError(`${path}: expected ${hint}, got text that is no JSON`);
  }
  if (!isRight(value)) throw new TypeError(`${path}: expected ${hint}, got JSON text of ${kindOf(value)}`);
}

export function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
