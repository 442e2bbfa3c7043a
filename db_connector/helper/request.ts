import type { Filter } from './filters.ts';
import type { Operation } from './operations.ts';
import {
  type AggregateQuery,
  aggregatePayload,
  type BatchOptions,
  batchPayload,
  callPayload,
  checkedQuery,
  countPayload,
  deletePayload,
  describePayload,
  extendPayload,
  findPayload,
  insertPayload,
  namespacePayload,
  type Query,
  type SyncOptions,
  syncPayload,
  type UpsertBatch,
  type UpsertOptions,
  updatePayload,
  upsertPayload,
  upsertRowsPayload,
  type WriteOptions,
} from './payloads.ts';
import { pageResult } from './readers.ts';
import type { DbResult } from './result.ts';
import type { Row } from './rows.ts';
import type { Schema } from './schema.ts';
import type { JsonText } from './typed-text.ts';
import type { Change, Selection } from './writes.ts';

/** A call, not yet sent. */
export interface Request {
  readonly operation: string;
  /** Names the call in a console line, such as `Find game.characters`. */
  readonly what: string;
  /** @throws TypeError if an argument cannot be sent */
  readonly payload: () => JsonText;
  /** Adds to the answer what follows from the arguments. Never throws. */
  readonly complete?: (result: DbResult) => DbResult;
}

/** Sends a call; never rejects because of what the database says. */
export type Send = (request: Request) => Promise<DbResult>;

/** A call that is not sent because of a mistake in it: its result says so, as that of any other mistake. */
export function mistaken(what: string, mistake: unknown): Request {
  return {
    operation: 'find',
    what,
    payload: () => {
      throw mistake;
    },
  };
}

/** The calls by the method's arguments, for both callbacks and promises. */
export const requests = {
  Call: (operation: string, payload: JsonText | object): Request => ({
    operation,
    what: String(operation),
    payload: () => callPayload(operation, payload),
  }),
  Sync: (namespace: string, schema: Schema, options: SyncOptions = {}): Request => ({
    operation: 'schema.sync',
    what: `Sync ${namespace}`,
    payload: () => syncPayload(namespace, schema, options),
  }),
  Extend: (namespace: string, part: string, schema: Schema, options: SyncOptions = {}): Request => ({
    operation: 'schema.extend',
    what: `Extend ${namespace} ${part}`,
    payload: () => extendPayload(namespace, part, schema, options),
  }),
  Describe: (namespace: string, part?: string): Request => ({
    operation: 'schema.describe',
    what: `Describe ${namespace}`,
    payload: () => describePayload(namespace, part),
  }),
  Insert: (namespace: string, table: string, rows: Row | readonly Row[], options: WriteOptions = {}): Request => ({
    operation: 'insert',
    what: `Insert ${namespace}.${table}`,
    payload: () => insertPayload(namespace, table, rows, options),
  }),
  Find: (namespace: string, table: string, query: Query = {}): Request => ({
    operation: 'find',
    what: `Find ${namespace}.${table}`,
    payload: () => findPayload(namespace, table, query),
    complete: (result) => pageResult(result, query?.limit),
  }),
  First: (namespace: string, table: string, query?: Query): Request => ({
    operation: 'find',
    what: `First ${namespace}.${table}`,
    payload: () => findPayload(namespace, table, { ...checkedQuery(query), limit: 1 }),
  }),
  Value: (namespace: string, table: string, field: string, query?: Query): Request => ({
    operation: 'find',
    what: `Value ${namespace}.${table}`,
    payload: () => findPayload(namespace, table, { ...checkedQuery(query), fields: [field], limit: 1 }),
  }),
  Aggregate: (namespace: string, table: string, query: AggregateQuery): Request => ({
    operation: 'aggregate',
    what: `Aggregate ${namespace}.${table}`,
    payload: () => aggregatePayload(namespace, table, query),
    complete: (result) => pageResult(result, query?.limit),
  }),
  Count: (namespace: string, table: string, filter?: Filter): Request => ({
    operation: 'count',
    what: `Count ${namespace}.${table}`,
    payload: () => countPayload(namespace, table, filter),
  }),
  Update: (namespace: string, table: string, change: Change, options: WriteOptions = {}): Request => ({
    operation: 'update',
    what: `Update ${namespace}.${table}`,
    payload: () => updatePayload(namespace, table, change, options),
  }),
  Upsert: (
    namespace: string,
    table: string,
    row: Row,
    keys: readonly string[],
    options: UpsertOptions = {},
  ): Request => ({
    operation: 'upsert',
    what: `Upsert ${namespace}.${table}`,
    payload: () => upsertPayload(namespace, table, row, keys, options),
  }),
  UpsertRows: (
    namespace: string,
    table: string,
    rows: readonly Row[],
    keys: readonly string[],
    options: UpsertOptions | undefined,
    batch: UpsertBatch,
  ): Request => ({
    operation: 'batch',
    what: `Upsert ${namespace}.${table}`,
    payload: () => upsertRowsPayload(namespace, table, rows, keys, options, batch),
  }),
  Delete: (namespace: string, table: string, selection: Selection, options: WriteOptions = {}): Request => ({
    operation: 'delete',
    what: `Delete ${namespace}.${table}`,
    payload: () => deletePayload(namespace, table, selection, options),
  }),
  Batch: (namespace: string, operations: readonly (JsonText | Operation)[], options: BatchOptions = {}): Request => ({
    operation: 'batch',
    what: `Batch ${namespace}`,
    payload: () => batchPayload(namespace, operations, options),
  }),
  Flush: (namespace: string): Request => ({
    operation: 'flush',
    what: `Flush ${namespace}`,
    payload: () => namespacePayload(namespace),
  }),
  Health: (): Request => ({ operation: 'health', what: 'Health', payload: () => '{}' }),
} as const;
