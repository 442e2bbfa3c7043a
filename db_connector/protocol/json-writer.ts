import { type Json, JsonNumber, numberText } from './json-value.ts';

/** Writable values: all that the reader returns, big integers, and objects with a `toJSON`. `undefined` is left out. */
export type Writable =
  | Json
  | bigint
  | undefined
  | readonly Writable[]
  | { readonly [name: string]: Writable }
  | { toJSON(): unknown };

export interface WriteOptions {
  /** Properties in the order of their names' UTF-16 code units (RFC 8785). */
  readonly sortNames?: boolean;
}

/** More is a ring of objects, or nothing that the reader would take. */
const MAX_DEPTH = 500;

/** JSON text without spaces, every digit as it was read. Throws `TypeError` on what JSON cannot say. */
export function writeJson(value: Writable, options: WriteOptions = {}): string {
  return write(value, options.sortNames === true, 0);
}

function write(value: unknown, sortNames: boolean, depth: number): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return numberText(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'bigint':
      return value.toString();
    case 'object':
      return value === null ? 'null' : writeObject(value, sortNames, depth + 1);
    default:
      throw new TypeError(`${typeof value} cannot be written as JSON`);
  }
}

function writeObject(value: object, sortNames: boolean, depth: number): string {
  if (value instanceof JsonNumber) return value.text;
  if (depth > MAX_DEPTH) throw new TypeError('too deep or circular to be written as JSON');
  if (Array.isArray(value)) return writeArray(value, sortNames, depth);
  if ('toJSON' in value && typeof value.toJSON === 'function') return write(value.toJSON(), sortNames, depth);
  const names = Object.keys(value);
  if (sortNames) names.sort();
  let text = '';
  for (const name of names) {
    const member: unknown = (value as { readonly [name: string]: unknown })[name];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${write(member, sortNames, depth)}`;
  }
  return `{${text}}`;
}

function writeArray(values: readonly unknown[], sortNames: boolean, depth: number): string {
  let text = '';
  for (let i = 0; i < values.length; i++) {
    const member = values[i];
    text += `${i === 0 ? '' : ','}${member === undefined ? 'null' : write(member, sortNames, depth)}`;
  }
  return `[${text}]`;
}
