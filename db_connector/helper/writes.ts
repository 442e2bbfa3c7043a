import type { Filter } from './filters.ts';
import { isPlainObject, jsonText, objectText } from './json-text.ts';
import { checkNames, namesOf } from './known-names.ts';
import { filterMember, type Member, optional, plainMember } from './payload-parts.ts';
import { type Row, rowsText, rowText } from './rows.ts';
import type { ColumnOf, DbRow, NumericColumnOf } from './typed-rows.ts';
import type { ExactNumber, JsonText } from './typed-text.ts';

/** Amounts to add, by column; negative takes away. NULL counts as 0. */
export type Increments<R = DbRow> =
  | JsonText
  | { readonly [K in NumericColumnOf<R>]?: number | bigint | ExactNumber | undefined };

/** Arguments of an `Update`: a filter or `all`, and `set` or `inc` or both. */
export interface Change<R = DbRow, C = object> {
  readonly filter?: Filter<R> | undefined;
  /** New values by column. */
  readonly set?: JsonText | C | undefined;
  /** Amounts to add, by column; negative takes away. NULL counts as 0. */
  readonly inc?: Increments<R> | undefined;
  /** Every row, in place of a filter. The owner must have allowed it for the key. */
  readonly all?: boolean | undefined;
}

/** Rows that a `Delete` removes: a filter, or `{ filter }`, or `{ all: true }`, which the owner must have allowed. */
export type Selection<R = DbRow> =
  | Filter<R>
  | { readonly filter?: Filter<R> | undefined; readonly all?: boolean | undefined };

/** Change of an `Upsert` if there is such a row already; without any of it all columns of the row are set. */
export interface Existing<R = DbRow> {
  /** Only these columns are set; an empty list inserts if missing, and otherwise does nothing. */
  readonly update?: readonly ColumnOf<R>[] | undefined;
  /** Added to the existing row; if it is new, to its own or default value. */
  readonly inc?: Increments<R> | undefined;
}

export const CHANGE_NAMES = namesOf<Change>({ filter: true, set: true, inc: true, all: true });
export const EXISTING_NAMES = namesOf<Existing>({ update: true, inc: true });
const SELECTION_NAMES = ['filter', 'all'];
const INCREMENTS = 'an object with numbers by column';

function incrementsMember(inc: Increments<never> | undefined): Member {
  return ['inc', optional(inc, (given) => objectText(given, 'inc', INCREMENTS))];
}

function tableMember(table: string): Member {
  return ['table', jsonText(table, 'table')];
}

export function insertMembers(table: string, rows: Row | readonly Row[]): readonly Member[] {
  return [tableMember(table), ['rows', rowsText(rows)]];
}

export function updateMembers(table: string, { filter, set, inc, all }: Change): readonly Member[] {
  return [
    tableMember(table),
    filterMember(filter),
    ['set', optional(set, (given) => rowText(given, 'set'))],
    incrementsMember(inc),
    plainMember('all', all),
  ];
}

export function upsertMembers(
  table: string,
  row: Row,
  keys: readonly string[],
  existing: Existing,
  path = 'row',
): readonly Member[] {
  return [
    tableMember(table),
    ['row', rowText(row, path)],
    ['keys', jsonText(keys, 'keys')],
    plainMember('update', existing.update),
    incrementsMember(existing.inc),
  ];
}

export function deleteMembers(table: string, selection: Selection): readonly Member[] {
  const { filter, all } = selectionParts(selection);
  return [tableMember(table), filterMember(filter), plainMember('all', all)];
}

/** An object with neither `filter` nor `all` is taken for a filter, so that a mistake is refused and deletes nothing. */
function selectionParts(selection: Selection): { filter?: Filter | undefined; all?: boolean | undefined } {
  if (isPlainObject(selection) && ('filter' in selection || 'all' in selection)) {
    checkNames(selection, SELECTION_NAMES, 'selection');
    return selection;
  }
  return { filter: selection as Filter };
}
