import type { Filter } from './filters.ts';
import { type AllQuery, findAll, pagesOf } from './find-all.ts';
import { findWith, type Relation } from './find-with.ts';
import type { Operation } from './operations.ts';
import type { AggregateQuery, BatchOptions, Query, SyncOptions, UpsertOptions, WriteOptions } from './payloads.ts';
import { readRows } from './readers.ts';
import { requests, type Send } from './request.ts';
import type { DbResult, FirstResult, InsertAllResult, PageResult, ValueResult } from './result.ts';
import type { Schema } from './schema.ts';
import type {
  AggregateRow,
  ColumnOf,
  DbRow,
  DbValue,
  Declared,
  Insertable,
  NamespaceOf,
  Read,
  Related,
  Settable,
  TableOf,
} from './typed-rows.ts';
import { erased, type JsonText } from './typed-text.ts';
import { insertAll, upsertRows } from './write-all.ts';
import type { Change, Selection } from './writes.ts';

/** The names that the connector knows; later versions may know more. */
export type OperationName =
  | 'health'
  | 'schema.sync'
  | 'schema.extend'
  | 'schema.describe'
  | 'insert'
  | 'find'
  | 'update'
  | 'upsert'
  | 'delete'
  | 'batch'
  | 'count'
  | 'aggregate'
  | 'flush'
  | (string & {});

/** The methods of `Database`, each as a promise. It always resolves, with an error result if the call failed. */
export class AsyncDatabase<S extends Declared = string> {
  readonly #send: Send;
  readonly #ready: () => Promise<DbResult>;

  /** @internal made by `Database` */
  constructor(send: Send, ready: () => Promise<DbResult>) {
    this.#send = send;
    this.#ready = ready;
  }

  /** Any operation, with a payload of your own: an object, or JSON text. */
  Call(operation: OperationName, payload: JsonText | object): Promise<DbResult> {
    return this.#send(requests.Call(operation, payload));
  }

  /** Declares the whole schema of a namespace; the sidecar changes only the difference. */
  Sync(namespace: NamespaceOf<S>, schema: Schema, options?: SyncOptions): Promise<DbResult> {
    return this.#send(requests.Sync(namespace, schema, options));
  }

  /** Declares what this bundle adds to the schema of another one's namespace: tables of its own, columns, indexes. */
  Extend(namespace: NamespaceOf<S>, part: string, schema: Schema, options?: SyncOptions): Promise<DbResult> {
    return this.#send(requests.Extend(namespace, part, schema, options));
  }

  /** The schema that is stored, or one part of it: `{ namespace, hash, schema, updatedAt }` in `Json`. */
  Describe(namespace: NamespaceOf<S>, part?: string): Promise<DbResult> {
    return this.#send(requests.Describe(namespace, part));
  }

  /** A row, or a list of rows that is inserted completely or not at all. Adds an idempotency key of its own if none is given. */
  Insert<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    options?: WriteOptions,
  ): Promise<DbResult> {
    return this.#send(requests.Insert(namespace, table, rows, options));
  }

  /** A list of any length, split into several inserts; after an error the result's `Done` and `Failed` tell how far it came. */
  InsertAll<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    rows: readonly (JsonText | Insertable<S, N, T>)[],
    options?: WriteOptions,
  ): Promise<InsertAllResult> {
    return insertAll(this.#send, namespace, table, rows, options);
  }

  /** Rows by filter, sorted, a page at a time: read them with `Rows` and `HasMore`. */
  Find<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>,
  >(namespace: N, table: T, query?: Query<Read<S, N, T>, F>): Promise<PageResult<Pick<Read<S, N, T>, F>>> {
    return this.#send(requests.Find(namespace, table, erased(query))) as Promise<PageResult<Pick<Read<S, N, T>, F>>>;
  }

  /** The first row of a query: `Row` of the result, null if there is none. */
  First<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>,
  >(namespace: N, table: T, query?: Query<Read<S, N, T>, F>): Promise<FirstResult<Pick<Read<S, N, T>, F>>> {
    const found = first(this.#send, namespace, table, erased(query));
    return found as Promise<FirstResult<Pick<Read<S, N, T>, F>>>;
  }

  /** A column of the first row of a query: `Value` of the result, null if there is none. */
  Value<N extends NamespaceOf<S>, T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>>>(
    namespace: N,
    table: T,
    field: F,
    query?: Query<Read<S, N, T>>,
  ): Promise<ValueResult<Read<S, N, T>[F]>> {
    const found = value(this.#send, namespace, table, field, erased(query));
    return found as Promise<ValueResult<Read<S, N, T>[F]>>;
  }

  /** All rows of a query, also past the limit of a page, at most `max`: read them with `Rows`. */
  FindAll<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>,
  >(namespace: N, table: T, query?: AllQuery<Read<S, N, T>, F>): Promise<DbResult<Pick<Read<S, N, T>, F>>> {
    const found = findAll(this.#send, namespace, table, erased(query));
    return found as Promise<DbResult<Pick<Read<S, N, T>, F>>>;
  }

  /**
   * All rows of a query, one after the other, read page by page as they are used:
   * `for await (const row of db.async.FindEach('game', 'characters')) …`. This alone throws, an Error with the result
   * as `result`, since a loop has no other way to end badly.
   */
  async *FindEach<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>,
  >(
    namespace: N,
    table: T,
    query?: AllQuery<Read<S, N, T>, F>,
  ): AsyncGenerator<Pick<Read<S, N, T>, F>, void, undefined> {
    for await (const page of pagesOf(this.#send, 'FindEach', namespace, table, erased(query))) {
      yield* page as readonly Pick<Read<S, N, T>, F>[];
    }
  }

  /** A page of rows, each with the rows of other tables that belong to it. */
  FindWith<N extends NamespaceOf<S>, T extends TableOf<S, N>, const A extends Relation | readonly Relation[]>(
    namespace: N,
    table: T,
    query: Query<Read<S, N, T>> | undefined,
    relations: A,
  ): Promise<PageResult<Read<S, N, T> & Related<A>>> {
    const found = findWith(this.#send, namespace, table, erased(query), relations);
    return found as Promise<PageResult<Read<S, N, T> & Related<A>>>;
  }

  /** Counts, sums, smallest and greatest values, of all rows or by group: read them with `Rows`. */
  Aggregate<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const G extends ColumnOf<Read<S, N, T>> = never,
    const A extends string = never,
  >(
    namespace: N,
    table: T,
    query: AggregateQuery<Read<S, N, T>, G, A>,
  ): Promise<PageResult<AggregateRow<Read<S, N, T>, G, A>>> {
    const found = this.#send(requests.Aggregate(namespace, table, erased(query)));
    return found as Promise<PageResult<AggregateRow<Read<S, N, T>, G, A>>>;
  }

  /** How many rows match: read it with `Number`. */
  Count<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    filter?: Filter<Read<S, N, T>>,
  ): Promise<DbResult> {
    return this.#send(requests.Count(namespace, table, erased(filter)));
  }

  /** Sets and adds in all rows that match; `Number` is their count. Adds an idempotency key if there is an `inc`. */
  Update<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    change: Change<Read<S, N, T>, Settable<S, N, T>>,
    options?: WriteOptions,
  ): Promise<DbResult> {
    return this.#send(requests.Update(namespace, table, erased(change), options));
  }

  /**
   * Inserts the row, or sets its other columns if a row with these keys exists; with `update` only those columns, with
   * `inc` adds to them. A list of rows is one batch, all or none: `Number` is the sum, `Results` has one result a row.
   * Without transactions rows are written one by one; the result is an error if one failed, and `FailedIndex` names it.
   */
  Upsert<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    keys: readonly ColumnOf<Read<S, N, T>>[],
    options?: UpsertOptions<Read<S, N, T>>,
  ): Promise<DbResult> {
    if (Array.isArray(rows)) return upsertRows(this.#send, namespace, table, rows, keys, erased(options));
    return this.#send(requests.Upsert(namespace, table, rows, keys, erased(options)));
  }

  /** Removes all rows that match the filter; `Number` tells how many there were. */
  Delete<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    selection: Selection<Read<S, N, T>>,
    options?: WriteOptions,
  ): Promise<DbResult> {
    return this.#send(requests.Delete(namespace, table, erased(selection), options));
  }

  /** Several writes in one call, all or nothing, or with `{ atomic: false }` each for itself: read them with `Results`. */
  Batch(
    namespace: NamespaceOf<S>,
    operations: readonly (JsonText | Operation)[],
    options?: BatchOptions,
  ): Promise<DbResult> {
    return this.#send(requests.Batch(namespace, operations, options));
  }

  /** Applies queued writes now, if the owner buffers the namespace; `Flushed` reads what is left. */
  Flush(namespace: NamespaceOf<S>): Promise<DbResult> {
    return this.#send(requests.Flush(namespace));
  }

  /** The sidecar's description of itself. */
  Health(): Promise<DbResult> {
    return this.#send(requests.Health());
  }

  /** Waits until the sidecar has answered, however long that takes. */
  Ready(): Promise<DbResult> {
    return this.#ready();
  }
}

/** A `Find` of one row, and the row. */
async function first(send: Send, namespace: string, table: string, query?: Query): Promise<FirstResult<DbRow>> {
  const result = await send(requests.First(namespace, table, query));
  return alsoReadable(result, { Row: readRows<DbRow>(result)[0] ?? null });
}

/** A `Find` of one column of one row, and its value. */
async function value(
  send: Send,
  namespace: string,
  table: string,
  field: string,
  query?: Query,
): Promise<ValueResult<DbValue>> {
  const result = await send(requests.Value(namespace, table, field, query));
  return alsoReadable(result, { Value: readRows<DbRow>(result)[0]?.[field] ?? null });
}

/** The result with more on it. */
function alsoReadable<T extends object>({ Id, State, Status, Code, Json }: DbResult, more: T) {
  return { Id, State, Status, Code, Json, ...more };
}
