import { isPlainObject, jsonText, objectText } from './json-text.ts';
import { checkNames } from './known-names.ts';
import type { ColumnOf, Comparand, DbRow } from './typed-rows.ts';
import type { DescribedBy, ExactNumber, JsonText, ResultReference, Text } from './typed-text.ts';

/** A single value: what a column can be compared with. */
export type Scalar = string | number | bigint | boolean | Date | Uint8Array | ExactNumber | ResultReference;

type Operator = 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'nin' | 'isNull' | 'startsWith' | 'contains';

/** Type of the text of a filter: the columns it compares, and with which values. */
export interface Asks<F extends string = string, V = unknown> {
  readonly field: F;
  readonly value: V;
}

/** All that filters on rows like `R` may ask. */
type AsksOf<R> = string extends keyof R
  ? unknown
  : { [K in ColumnOf<R>]: Asks<K, Comparand<R[K]> | (null extends R[K] ? null : never)> }[ColumnOf<R>];

export type Condition<R = DbRow> = {
  readonly [K in ColumnOf<R>]: {
    readonly field: K;
    readonly op: Operator;
    readonly value?: Comparand<R[K]> | boolean | null | readonly Comparand<R[K]>[];
  };
}[ColumnOf<R>];

/** Text from a builder (`Q.Eq('id', 7)`), or the same as a plain object (`{ field: 'id', op: 'eq', value: 7 }`). */
export type Filter<R = DbRow> =
  | Text<AsksOf<R>>
  | Condition<R>
  | { readonly and: readonly Filter<R>[] }
  | { readonly or: readonly Filter<R>[] }
  | { readonly not: Filter<R> };

type Part = Filter | readonly Filter[];
type AskedBy<T> = T extends readonly (infer E)[] ? DescribedBy<E> : DescribedBy<T>;
/** Type of several filters together. */
type AskedByAll<T extends readonly Part[]> = Text<AskedBy<T[number]>>;

export interface FilterBuilders {
  /** The column has this value. With null: the column is NULL. */
  Eq<const F extends string, const V extends Scalar | null>(field: F, value: V): Text<Asks<F, V>>;
  /** The column has another value; NULL does not match. With null: the column is not NULL. */
  Ne<const F extends string, const V extends Scalar | null>(field: F, value: V): Text<Asks<F, V>>;
  /** Greater than. NULL never matches a comparison. */
  Gt<const F extends string, const V extends Scalar>(field: F, value: V): Text<Asks<F, V>>;
  /** Greater than, or equal. */
  Gte<const F extends string, const V extends Scalar>(field: F, value: V): Text<Asks<F, V>>;
  /** Less than. */
  Lt<const F extends string, const V extends Scalar>(field: F, value: V): Text<Asks<F, V>>;
  /** Less than, or equal. */
  Lte<const F extends string, const V extends Scalar>(field: F, value: V): Text<Asks<F, V>>;
  /** Equal to any of 1 to 1000 values. */
  In<const F extends string, const V extends Scalar>(field: F, values: readonly V[]): Text<Asks<F, V>>;
  /** None of 1 to 1000 values; NULL does not match. */
  NotIn<const F extends string, const V extends Scalar>(field: F, values: readonly V[]): Text<Asks<F, V>>;
  /** The column is NULL; with false: it is not. */
  IsNull<const F extends string>(field: F, isNull?: boolean): Text<Asks<F, never>>;
  /** The text begins with this one. Upper and lower case count; `%` and `_` mean themselves. */
  StartsWith<const F extends string>(field: F, text: string): Text<Asks<F, never>>;
  /** The text holds this one. Upper and lower case count; `%` and `_` mean themselves. */
  Contains<const F extends string>(field: F, text: string): Text<Asks<F, never>>;
  /** All of these. A list does as well as several arguments. */
  And<const T extends readonly Part[]>(...filters: T): AskedByAll<T>;
  /** At least one of these. A list does as well as several arguments. */
  Or<const T extends readonly Part[]>(...filters: T): AskedByAll<T>;
  /** The opposite. As in SQL, what is neither true nor false because of a NULL stays so. */
  Not<const T extends Filter>(filter: T): Text<AskedBy<T>>;
}

const NAMES = ['field', 'op', 'value', 'and', 'or', 'not'];
const HINT = 'a filter such as Q.Eq(…), or a plain object';

/** JSON text of a filter, in which texts and objects may be mixed. Throws `TypeError` if it is none. */
export function filterText(filter: unknown, path: string): JsonText {
  if (filter !== undefined && filter === lastText) return lastText;
  if (!isPlainObject(filter)) return objectText(filter, path, HINT);
  checkNames(filter, NAMES, path);
  if (!('and' in filter || 'or' in filter || 'not' in filter)) return objectText(filter, path, HINT);
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

/** The latest text of a builder: most are used at once, and need no look whether they are JSON. */
let lastText: JsonText | undefined;

function condition(builder: string, op: Operator, field: string, value: unknown): JsonText {
  if (typeof field !== 'string')
    throw new TypeError(`Q.${builder}: expected the name of a column, got ${typeof field}`);
  lastText = `{"field":${JSON.stringify(field)},"op":"${op}","value":${jsonText(value, `Q.${builder}: ${field}`)}}`;
  return lastText;
}

function list(builder: string, op: 'in' | 'nin', field: string, values: readonly Scalar[]): JsonText {
  if (!Array.isArray(values)) throw new TypeError(`Q.${builder}: ${field}: expected a list of values`);
  return condition(builder, op, field, values);
}

function group(builder: 'And' | 'Or', filters: readonly (Filter | readonly Filter[])[]): JsonText {
  const texts = filters.flat().map((filter, index) => filterText(filter, `Q.${builder}: filter ${index + 1}`));
  lastText = `{"${builder.toLowerCase()}":[${texts.join(',')}]}`;
  return lastText;
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
