import type { ExactNumber } from './exact-number.ts';
import { type Filter, filterText, type JsonText } from './filters.ts';
import { isPlainObject, jsonText, kindOf, objectText } from './json-text.ts';
import { type Row, rowsText, rowText, type Sort, sortText } from './rows.ts';
import { type Schema, schemaText } from './schema.ts';

/** What a `Find` may say; all of it may be left out. */
export interface Query {
  /** Which rows; all if left out. */
  readonly filter?: Filter | undefined;
  /** Which columns; all if left out. */
  readonly fields?: readonly string[] | undefined;
  /** By primary key if left out. */
  readonly sort?: Sort | undefined;
  /** The most rows to get, at most (and if left out) the owner's setting, 1000. */
  readonly limit?: number | undefined;
  /** Rows to skip. For long lists go on after the last key instead. */
  readonly offset?: number | undefined;
}

/** What an `Update` does: a filter or `all`, and `set` or `inc` or both. */
export interface Change {
  readonly filter?: Filter | undefined;
  /** New values by column. */
  readonly set?: Row | undefined;
  /** What is added, by column; negative takes away. NULL counts as 0. */
  readonly inc?: JsonText | Readonly<Record<string, number | bigint | ExactNumber>> | undefined;
  /** Every row, in place of a filter. The owner must have allowed it for the key. */
  readonly all?: boolean | undefined;
}

/** What a `Delete` removes: a filter, or `{ filter }`, or `{ all: true }`, which the owner must have allowed. */
export type Selection = Filter | { readonly filter?: Filter | undefined; readonly all?: boolean | undefined };

export interface WriteOptions {
  /** The same key with the same payload within ten minutes is the same write: it happens once. */
  readonly idempotencyKey?: string | undefined;
  /** Do not wait in the write-behind queue, where the owner has one for this namespace. */
  readonly immediate?: boolean | undefined;
}

export interface SyncOptions {
  /** Only say what would be done. */
  readonly dryRun?: boolean | undefined;
}

type Member = readonly [name: string, text: JsonText | undefined];

/** undefined and null: not said. */
function optional<T>(value: T, textOf: (value: NonNullable<T>) => JsonText): JsonText | undefined {
  return value === undefined || value === null ? undefined : textOf(value);
}

function payload(members: readonly Member[]): JsonText {
  let text = '';
  for (const [name, value] of members) {
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`;
  }
  return `{${text}}`;
}

function place(namespace: string, table: string): readonly Member[] {
  return [
    ['namespace', jsonText(namespace, 'namespace')],
    ['table', jsonText(table, 'table')],
  ];
}

function durability(options: WriteOptions): readonly Member[] {
  return [
    ['durability', options.immediate === true ? '"immediate"' : undefined],
    ['idempotencyKey', optional(options.idempotencyKey, (key) => jsonText(key, 'idempotencyKey'))],
  ];
}

/** So that a retry by the connector, or by the script with the same options, is the same write. */
function withKey(options: WriteOptions): WriteOptions {
  return { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
}

function filterMember(filter: Filter | undefined): Member {
  return ['filter', optional(filter, (given) => filterText(given, 'filter'))];
}

function allMember(all: boolean | undefined): Member {
  return ['all', optional(all, (given) => jsonText(given, 'all'))];
}

/** An object that holds more than one part; other kinds of arguments are a mistake of the script. */
function parts<T extends object>(value: T | undefined | null, what: string): Partial<T> {
  if (value === undefined || value === null) return {};
  if (!isPlainObject(value)) throw new TypeError(`${what}: expected an object, got ${kindOf(value)}`);
  return value;
}

/** A payload of the script's own: text as it is, or an object. */
export function callPayload(given: JsonText | object): JsonText {
  return typeof given === 'string' ? given : objectText(given, 'payload', 'an object');
}

export function namespacePayload(namespace: string): JsonText {
  return payload([['namespace', jsonText(namespace, 'namespace')]]);
}

export function syncPayload(namespace: string, schema: Schema, options: SyncOptions): JsonText {
  return payload([
    ['namespace', jsonText(namespace, 'namespace')],
    ['dryRun', optional(parts(options, 'options').dryRun, (dryRun) => jsonText(dryRun, 'dryRun'))],
    ['schema', schemaText(schema)],
  ]);
}

export function insertPayload(namespace: string, table: string, rows: Row | readonly Row[], options: WriteOptions) {
  const given = withKey(parts(options, 'options'));
  return payload([...place(namespace, table), ['rows', rowsText(rows)], ...durability(given)]);
}

export function findPayload(namespace: string, table: string, query: Query): JsonText {
  const { filter, fields, sort, limit, offset } = parts(query, 'query');
  return payload([
    ...place(namespace, table),
    filterMember(filter),
    ['fields', optional(fields, (given) => jsonText(given, 'fields'))],
    ['sort', optional(sort, sortText)],
    ['limit', optional(limit, (given) => jsonText(given, 'limit'))],
    ['offset', optional(offset, (given) => jsonText(given, 'offset'))],
  ]);
}

export function countPayload(namespace: string, table: string, filter: Filter | undefined): JsonText {
  return payload([...place(namespace, table), filterMember(filter)]);
}

export function updatePayload(namespace: string, table: string, change: Change, options: WriteOptions): JsonText {
  const { filter, set, inc, all } = parts(change, 'change');
  return payload([
    ...place(namespace, table),
    filterMember(filter),
    ['set', optional(set, (given) => rowText(given, 'set'))],
    ['inc', optional(inc, (given) => objectText(given, 'inc', 'an object with numbers by column'))],
    allMember(all),
    ...durability(parts(options, 'options')),
  ]);
}

export function upsertPayload(
  namespace: string,
  table: string,
  row: Row,
  keys: readonly string[],
  options: WriteOptions,
): JsonText {
  return payload([
    ...place(namespace, table),
    ['row', rowText(row, 'row')],
    ['keys', jsonText(keys, 'keys')],
    ...durability(withKey(parts(options, 'options'))),
  ]);
}

export function deletePayload(namespace: string, table: string, selection: Selection, options: WriteOptions): JsonText {
  const { filter, all } = selectionParts(selection);
  return payload([
    ...place(namespace, table),
    filterMember(filter),
    allMember(all),
    ...durability(parts(options, 'options')),
  ]);
}

/** An object with neither `filter` nor `all` is taken for a filter, so that a mistake is refused and deletes nothing. */
function selectionParts(selection: Selection): { filter?: Filter | undefined; all?: boolean | undefined } {
  if (isPlainObject(selection) && ('filter' in selection || 'all' in selection)) return selection;
  return { filter: selection as Filter };
}
