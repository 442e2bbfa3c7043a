import { type Filter, filterText } from './filters.ts';
import { isPlainObject, jsonText, kindOf } from './json-text.ts';
import { checkNames } from './known-names.ts';
import type { JsonText } from './typed-text.ts';

/** A property of a payload; undefined: left out. */
export type Member = readonly [name: string, text: JsonText | undefined];

/** undefined and null: not said. */
export function optional<T>(value: T, textOf: (value: NonNullable<T>) => JsonText): JsonText | undefined {
  return value === undefined || value === null ? undefined : textOf(value);
}

/** A property whose value is written as it is, if it was given. */
export function plainMember(name: string, value: unknown): Member {
  return [name, optional(value, (given) => jsonText(given, name))];
}

/**
 * A list of names; undefined if it was not said.
 *
 * @throws TypeError where text would be taken for a list of characters
 */
export function namesGiven(names: unknown, path: string): readonly string[] | undefined {
  if (names === undefined || names === null) return undefined;
  if (!Array.isArray(names)) throw new TypeError(`${path}: expected a list of names, got ${kindOf(names)}`);
  for (const [index, name] of names.entries()) {
    if (typeof name !== 'string') throw new TypeError(`${path}[${index}]: expected a name, got ${kindOf(name)}`);
  }
  return names;
}

/** An upper bound of rows; undefined if it was not said. @throws TypeError */
export function maxGiven(max: unknown, path: string): number | undefined {
  if (max === undefined || max === null) return undefined;
  if (typeof max !== 'number' || Number.isNaN(max)) {
    throw new TypeError(`${path}: expected a number of rows, got ${Number.isNaN(max) ? 'NaN' : kindOf(max)}`);
  }
  return max;
}

export function filterMember(filter: Filter | undefined | null): Member {
  return ['filter', optional(filter, (given) => filterText(given, 'filter'))];
}

export function payload(members: readonly Member[]): JsonText {
  let text = '';
  for (const member of members) {
    if (member[1] !== undefined) text += `${text === '' ? '' : ','}"${member[0]}":${member[1]}`;
  }
  return `{${text}}`;
}

/** An object that holds parts with these names; anything else is a mistake of the script. */
export function parts<T extends object>(
  value: T | undefined | null,
  what: string,
  names: readonly string[],
): Partial<T> {
  if (value === undefined || value === null) return {};
  if (!isPlainObject(value)) throw new TypeError(`${what}: expected an object, got ${kindOf(value)}`);
  checkNames(value, names, what);
  return value;
}

/** JSON text of a list, each member by its own rule. Text of a whole list is not taken. */
export function listText(items: unknown, path: string, itemText: (item: unknown, path: string) => JsonText): JsonText {
  if (!Array.isArray(items)) throw new TypeError(`${path}: expected a list, got ${kindOf(items)}`);
  return `[${items.map((item, index) => itemText(item, `${path}[${index}]`)).join(',')}]`;
}
