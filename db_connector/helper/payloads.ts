import { type AggregateValue, valuesText } from './aggregates.ts';
import type { Filter } from './filters.ts';
import { jsonText, kindOf, objectText } from './json-text.ts';
import { namesOf } from './known-names.ts';
import { type Operation, operationsText, upsertsText } from './operations.ts';
import { filterMember, type Member, optional, parts, payload, plainMember } from './payload-parts.ts';
import { type Row, type Sort, sortText } from './rows.ts';
import { type Schema, schemaText } from './schema.ts';
import type { ColumnOf, DbRow } from './typed-rows.ts';
import type { JsonText, Text } from './typed-text.ts';
import {
  CHANGE_NAMES,
  type Change,
  deleteMembers,
  EXISTING_NAMES,
  type Existing,
  insertMembers,
  type Selection,
  updateMembers,
  upsertMembers,
} from './writes.ts';

/** Options of a `Find`; all of them may be left out. */
export interface Query<R = DbRow, F = ColumnOf<R>> {
  /** Which rows; all if left out. */
  readonly filter?: Filter<R> | undefined;
  /** Which columns; all if left out. */
  readonly fields?: readonly F[] | undefined;
  /** By primary key if left out. */
  readonly sort?: Sort<R> | undefined;
  /** The most rows to get, at most (and if left out) the owner's setting, 1000. Beyond it the result is `Capped`. */
  readonly limit?: number | undefined;
  /** Rows to skip. For long lists go on after the last key instead. */
  readonly offset?: number | undefined;
}

/** Query of an `Aggregate`: values, of all rows or by group. */
export interface AggregateQuery<R = DbRow, G = ColumnOf<R>, A extends string = string> {
  readonly filter?: Filter<R> | undefined;
  /** A row in the answer for each combination of values in these columns, at most four. */
  readonly groupBy?: G | readonly G[] | undefined;
  /** A value or several, at most eight. */
  readonly values?: AggregateText<A> | AggregateValue | readonly (AggregateText<A> | AggregateValue)[] | undefined;
  /** By columns of the answer. Without it in the order of the groups. */
  readonly sort?: Sort | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

type AggregateText<A extends string> = Text<{ readonly as: A }>;

export interface WriteOptions {
  /** The same key with the same payload within ten minutes is the same write: it happens once. */
  readonly idempotencyKey?: string | undefined;
  /** Do not wait in the write-behind queue, if the owner has one for this namespace. */
  readonly immediate?: boolean | undefined;
}

export interface UpsertOptions<R = DbRow> extends WriteOptions, Existing<R> {}

export interface BatchOptions extends WriteOptions {
  /** All or nothing, which is the default; false: in order, each for itself. */
  readonly atomic?: boolean | undefined;
}

export interface SyncOptions {
  /** Only say what would be done. */
  readonly dryRun?: boolean | undefined;
}

const QUERY_NAMES = namesOf<Query>({ filter: true, fields: true, sort: true, limit: true, offset: true });
const AGGREGATE_NAMES = namesOf<AggregateQuery>({
  filter: true,
  groupBy: true,
  values: true,
  sort: true,
  limit: true,
  offset: true,
});
const WRITE_NAMES = namesOf<WriteOptions>({ idempotencyKey: true, immediate: true });
const UPSERT_NAMES = [...WRITE_NAMES, ...EXISTING_NAMES];
const BATCH_NAMES = namesOf<BatchOptions>({ idempotencyKey: true, immediate: true, atomic: true });
const SYNC_NAMES = namesOf<SyncOptions>({ dryRun: true });

/** A query that is fit to be sent. @throws TypeError */
export function checkedQuery(query: Query | undefined): Query {
  return parts(query, 'query', QUERY_NAMES);
}

/** Options of a write that are fit to be sent. @throws TypeError */
export function checkedWriteOptions(options: WriteOptions | undefined): WriteOptions {
  return parts(options, 'options', WRITE_NAMES);
}

function namespaceMember(namespace: string): Member {
  return ['namespace', jsonText(namespace, 'namespace')];
}

/** @throws TypeError where `immediate` is anything but a truth value: it would be taken for false */
function durability({ immediate, ...options }: WriteOptions): readonly Member[] {
  if (typeof (immediate ?? false) !== 'boolean') {
    throw new TypeError(`immediate: expected true or false, got ${kindOf(immediate)}`);
  }
  return [
    ['durability', immediate === true ? '"immediate"' : undefined],
    plainMember('idempotencyKey', options.idempotencyKey),
  ];
}

/** So that a retry by the connector, or by the script with the same options, is the same write. */
function withKey<O extends WriteOptions>(options: O): O {
  return { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
}

/** A payload of the script's own: text as it is, or an object. */
export function callPayload(operation: string, given: JsonText | object): JsonText {
  // The calls of a turn go out in one list, which anything but text would spoil for all of them.
  if (typeof operation !== 'string') throw new TypeError(`operation: expected a name, got ${kindOf(operation)}`);
  return typeof given === 'string' ? given : objectText(given, 'payload', 'an object');
}

export function namespacePayload(namespace: string): JsonText {
  return payload([namespaceMember(namespace)]);
}

export function syncPayload(namespace: string, schema: Schema, options: SyncOptions): JsonText {
  return payload([
    namespaceMember(namespace),
    plainMember('dryRun', parts(options, 'options', SYNC_NAMES).dryRun),
    ['schema', schemaText(schema)],
  ]);
}

export function extendPayload(namespace: string, part: string, schema: Schema, options: SyncOptions): JsonText {
  return payload([
    namespaceMember(namespace),
    ['part', jsonText(part, 'part')],
    plainMember('dryRun', parts(options, 'options', SYNC_NAMES).dryRun),
    ['schema', schemaText(schema)],
  ]);
}

export function describePayload(namespace: string, part: string | undefined): JsonText {
  return payload([namespaceMember(namespace), plainMember('part', part)]);
}

export function insertPayload(
  namespace: string,
  table: string,
  rows: Row | readonly Row[],
  options: WriteOptions,
): JsonText {
  const given = withKey(checkedWriteOptions(options));
  return payload([namespaceMember(namespace), ...insertMembers(table, rows), ...durability(given)]);
}

export function findPayload(namespace: string, table: string, query: Query): JsonText {
  const { filter, fields, sort, limit, offset } = checkedQuery(query);
  return payload([
    namespaceMember(namespace),
    ['table', jsonText(table, 'table')],
    filterMember(filter),
    plainMember('fields', fields),
    ['sort', optional(sort, sortText)],
    plainMember('limit', limit),
    plainMember('offset', offset),
  ]);
}

export function aggregatePayload(namespace: string, table: string, query: AggregateQuery): JsonText {
  const { filter, groupBy, values, sort, limit, offset } = parts(query, 'query', AGGREGATE_NAMES);
  return payload([
    namespaceMember(namespace),
    ['table', jsonText(table, 'table')],
    filterMember(filter),
    plainMember('groupBy', typeof groupBy === 'string' ? [groupBy] : groupBy),
    ['values', optional(values, valuesText)],
    ['sort', optional(sort, sortText)],
    plainMember('limit', limit),
    plainMember('offset', offset),
  ]);
}

export function countPayload(namespace: string, table: string, filter: Filter | undefined): JsonText {
  return payload([namespaceMember(namespace), ['table', jsonText(table, 'table')], filterMember(filter)]);
}

/** An update that only sets may happen twice; an update that adds must not, so it gets a key. */
export function updatePayload(namespace: string, table: string, change: Change, options: WriteOptions): JsonText {
  const given = checkedWriteOptions(options);
  const checked = parts(change, 'change', CHANGE_NAMES);
  return payload([
    namespaceMember(namespace),
    ...updateMembers(table, checked),
    ...durability(checked.inc === undefined ? given : withKey(given)),
  ]);
}

export function upsertPayload(
  namespace: string,
  table: string,
  row: Row,
  keys: readonly string[],
  options: UpsertOptions,
): JsonText {
  const given = withKey(parts(options, 'options', UPSERT_NAMES));
  return payload([namespaceMember(namespace), ...upsertMembers(table, row, keys, given), ...durability(given)]);
}

/** How a list of rows is upserted. */
export interface UpsertBatch {
  /** If the options hold none. */
  readonly key: string;
  readonly atomic: boolean;
}

export function upsertRowsPayload(
  namespace: string,
  table: string,
  rows: readonly Row[],
  keys: readonly string[],
  options: UpsertOptions | undefined,
  { key, atomic }: UpsertBatch,
): JsonText {
  const { idempotencyKey = key, immediate, ...existing } = parts(options, 'options', UPSERT_NAMES);
  return payload([
    namespaceMember(namespace),
    ['operations', upsertsText(table, rows, keys, existing)],
    ['atomic', String(atomic)],
    ...durability({ idempotencyKey, immediate }),
  ]);
}

export function deletePayload(namespace: string, table: string, selection: Selection, options: WriteOptions): JsonText {
  return payload([
    namespaceMember(namespace),
    ...deleteMembers(table, selection),
    ...durability(checkedWriteOptions(options)),
  ]);
}

export function batchPayload(
  namespace: string,
  operations: readonly (JsonText | Operation)[],
  options: BatchOptions,
): JsonText {
  const given = withKey(parts(options, 'options', BATCH_NAMES));
  return payload([
    namespaceMember(namespace),
    ['operations', operationsText(operations)],
    plainMember('atomic', given.atomic),
    ...durability(given),
  ]);
}
