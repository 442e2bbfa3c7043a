import type { ExactNumber } from './exact-number.ts';
import { isPlainObject, jsonText, objectText } from './json-text.ts';

/** JSON text as a builder returns it. Wherever it is expected, a plain object does as well. */
export type JsonText = string;

/** A single value: what a column can be compared with. */
export type Scalar = string | number | bigint | boolean | Date | Uint8Array | ExactNumber;

export interface Condition {
  readonly field: string;
  readonly op: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'nin' | 'isNull' | 'startsWith' | 'contains';
  readonly value?: Scalar | null | readonly Scalar[];
}

/** Text from a builder (`Q.Eq('id', 7)`), or the same as a plain object (`{ field: 'id', op: 'eq', value: 7 }`). */
export type Filter =
  | JsonText
  | Condition
  | { readonly and: readonly Filter[] }
  | { readonly or: readonly Filter[] }
  | { readonly not: Filter };

export interface FilterBuilders {
  /** The column has this value. With null: the column is NULL. */
  Eq(field: string, value: Scalar | null): JsonText;
  /** The column has another value; NULL does not match. With null: the column is not NULL. */
  Ne(field: string, value: Scalar | null): JsonText;
  /** Greater than. NULL never matches a comparison. */
  Gt(field: string, value: Scalar): JsonText;
  /** Greater than, or equal. */
  Gte(field: string, value: Scalar): JsonText;
  /** Less than. */
  Lt(field: string, value: Scalar): JsonText;
  /** Less than, or equal. */
  Lte(field: string, value: Scalar): JsonText;
  /** One of 1 to 1000 values. */
  In(field: string, values: readonly Scalar[]): JsonText;
  /** None of 1 to 1000 values; NULL does not match. */
  NotIn(field: string, values: readonly Scalar[]): JsonText;
  /** The column is NULL; with false: it is not. */
  IsNull(field: string, isNull?: boolean): JsonText;
  /** The text begins with this one. Upper and lower case count; `%` and `_` mean themselves. */
  StartsWith(field: string, text: string): JsonText;
  /** The text holds this one. Upper and lower case count; `%` and `_` mean themselves. */
  Contains(field: string, text: string): JsonText;
  /** All of these. A list does as well as several arguments. */
  And(...filters: readonly (Filter | readonly Filter[])[]): JsonText;
  /** At least one of these. A list does as well as several arguments. */
  Or(...filters: readonly (Filter | readonly Filter[])[]): JsonText;
  /** The opposite. As in SQL, what is neither true nor false because of a NULL stays so. */
  Not(filter: Filter): JsonText;
}

const HINT = 'a filter such as Q.Eq(…), or a plain object';

/** JSON text of a filter, in which texts and objects may be mixed. Throws `TypeError` where it is none. */
export function filterText(filter: unknown, path: string): JsonText {
  if (!isPlainObject(filter) || !('and' in filter || 'or' in filter || 'not' in filter)) {
    return objectText(filter, path, HINT);
  }
  const members = Object.entries(filter).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${memberText(name, member, path)}`).join(',')}}`;
}

function memberText(name: string, member: unknown, path: string): JsonText {
  if (name === 'not') return filterText(member, `${path}.not`);
  if ((name === 'and' || name === 'or') && Array.isArray(member)) {
    return `[${member.map((filter, index) => filterText(filter, `${path}.${name}[${index}]`)).join(',')}]`;
  }
  return jsonText(member, `${path}.${name}`);
}

function condition(builder: string, op: Condition['op'], field: string, value: unknown): JsonText {
  if (typeof field !== 'string')
    throw new TypeError(`Q.${builder}: expected the name of a column, got ${typeof field}`);
  return `{"field":${JSON.stringify(field)},"op":"${op}","value":${jsonText(value, `Q.${builder}: ${field}`)}}`;
}

function list(builder: string, op: 'in' | 'nin', field: string, values: readonly Scalar[]): JsonText {
  if (!Array.isArray(values)) throw new TypeError(`Q.${builder}: ${field}: expected a list of values`);
  return condition(builder, op, field, values);
}

function group(builder: 'And' | 'Or', filters: readonly (Filter | readonly Filter[])[]): JsonText {
  const texts = filters.flat().map((filter, index) => filterText(filter, `Q.${builder}: filter ${index + 1}`));
  return `{"${builder.toLowerCase()}":[${texts.join(',')}]}`;
}

export const filterBuilders: FilterBuilders = {
  Eq: (field, value) => condition('Eq', 'eq', field, value),
  Ne: (field, value) => condition('Ne', 'ne', field, value),
  Gt: (field, value) => condition('Gt', 'gt', field, value),
  Gte: (field, value) => condition('Gte', 'gte', field, value),
  Lt: (field, value) => condition('Lt', 'lt', field, value),
  Lte: (field, value) => condition('Lte', 'lte', field, value),
  In: (field, values) => list('In', 'in', field, values),
  NotIn: (field, values) => list('NotIn', 'nin', field, values),
  IsNull: (field, isNull = true) => condition('IsNull', 'isNull', field, isNull),
  StartsWith: (field, text) => condition('StartsWith', 'startsWith', field, text),
  Contains: (field, text) => condition('Contains', 'contains', field, text),
  And: (...filters) => group('And', filters),
  Or: (...filters) => group('Or', filters),
  Not: (filter) => `{"not":${filterText(filter, 'Q.Not')}}`,
};
