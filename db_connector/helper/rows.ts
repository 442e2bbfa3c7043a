import { JsonNumber, parseJson, writeJson } from '../protocol/json.ts';
import { checkText, isPlainObject, jsonText, kindOf, objectText } from './json-text.ts';
import { checkNames, namesOf } from './known-names.ts';
import type { ColumnOf, DbRow } from './typed-rows.ts';
import type { ExactNumber, JsonText, Text } from './typed-text.ts';

/** Values by column: text from `Q.Row`, or a plain object. Properties that are `undefined` are left out. */
export type Row = JsonText | object;

/** Type of the text of a sort term. */
export interface SortsBy<F extends string> {
  readonly sortsBy: F;
}

export interface SortField<F = string> {
  readonly field: F;
  readonly dir?: 'asc' | 'desc';
}

/** `Q.Sort(…)`, or the same as a plain object. */
export type SortTerm<R = DbRow> = Text<SortsBy<ColumnOf<R>>> | SortField<ColumnOf<R>>;

/** A term, or several, the most important first. */
export type Sort<R = DbRow> = SortTerm<R> | readonly SortTerm<R>[];

export interface RowBuilders {
  /**
   * Values by column. A BigInt and a `Q.Number` are written digit for digit, a `Date` as ISO text, bytes as base64;
   * `undefined` is left out.
   *
   * @throws TypeError that names the property, if a value cannot be stored (NaN, a function, a Promise)
   */
  Row(values: object): JsonText;
  /** Order by a column, `asc` if nothing is said. Several: a list of these. */
  Sort<const F extends string>(field: F, dir?: 'asc' | 'desc'): Text<SortsBy<F>>;
  /** The same payload of a write, which does not wait in the write-behind queue; for `Call`. */
  Immediate(payload: JsonText | object): JsonText;
  /** A number digit for digit, as text says it: `Q.Number('123.45')`. @throws TypeError if the text is no number */
  Number(digits: string | number | bigint): ExactNumber;
}

const SORT_NAMES = namesOf<SortField>({ field: true, dir: true });
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** JSON text of one row. Throws `TypeError` if it is none. */
export function rowText(row: unknown, path: string): JsonText {
  return objectText(row, path, 'an object with values by column');
}

/** JSON text of a list of rows, from one row or a list. Text of a list is taken too. */
export function rowsText(rows: unknown): JsonText {
  if (Array.isArray(rows)) return `[${rows.map((row, index) => rowText(row, `rows[${index}]`)).join(',')}]`;
  if (typeof rows === 'string' && rows.trimStart().startsWith('[')) {
    checkText(rows, 'rows', 'a list of rows', Array.isArray);
    return rows;
  }
  return `[${rowText(rows, 'rows')}]`;
}

/** JSON text of the list of sort terms. */
export function sortText(sort: unknown): JsonText {
  if (Array.isArray(sort)) return `[${sort.map((term, index) => sortTermText(term, `sort[${index}]`)).join(',')}]`;
  if (typeof sort === 'string' && sort.trimStart().startsWith('[')) {
    checkText(sort, 'sort', 'a list of Q.Sort(…)', Array.isArray);
    return sort;
  }
  return `[${sortTermText(sort, 'sort')}]`;
}

function sortTermText(term: unknown, path: string): JsonText {
  if (isPlainObject(term)) checkNames(term, SORT_NAMES, path);
  return objectText(term, path, 'Q.Sort(…), or { field, dir }');
}

/** Digits are kept: the text is read exactly and written again. */
function immediateText(payload: JsonText | object): JsonText {
  const text = objectText(payload, 'Q.Immediate', 'the payload of a write');
  const exact = parseJson(text);
  return writeJson({ ...(isPlainObject(exact) ? exact : {}), durability: 'immediate' });
}

function exactNumber(digits: unknown): ExactNumber {
  const text = String(digits);
  if (!NUMBER.test(text)) {
    const given = typeof digits === 'string' ? JSON.stringify(digits) : kindOf(digits);
    throw new TypeError(`Q.Number: expected digits such as '123.45', got ${given}`);
  }
  return new JsonNumber(text, !Number.isFinite(Number(text)));
}

function sortTerm(field: string, dir: 'asc' | 'desc'): JsonText {
  if (typeof field !== 'string') throw new TypeError(`Q.Sort: expected the name of a column, got ${kindOf(field)}`);
  return jsonText({ field, dir }, 'Q.Sort');
}

export const rowBuilders: RowBuilders = {
  Row(values) {
    if (!isPlainObject(values)) throw new TypeError(`Q.Row: expected an object, got ${kindOf(values)}`);
    return jsonText(values, 'Q.Row');
  },
  Sort: (field, dir = 'asc') => sortTerm(field, dir),
  Immediate: immediateText,
  Number: exactNumber,
};
