import type { Filter } from './filters.ts';
import type { AllQuery } from './find-all.ts';
import type { Relation } from './find-with.ts';
import type { Operation } from './operations.ts';
import type { AggregateQuery, BatchOptions, Query, SyncOptions, UpsertOptions, WriteOptions } from './payloads.ts';
import type { DbResult, FirstResult, InsertAllResult, PageResult, ValueResult } from './result.ts';
import type { Schema } from './schema.ts';
import type {
  AggregateRow,
  ColumnOf,
  Declared,
  Insertable,
  NamespaceOf,
  Read,
  Related,
  Settable,
  TableOf,
} from './typed-rows.ts';
import type { JsonText } from './typed-text.ts';
import type { Change, Selection } from './writes.ts';

/** The methods of `AsyncDatabase` for one namespace; each is explained there. */
export interface AsyncNamespace<S extends Declared = string, N extends NamespaceOf<S> = NamespaceOf<S>> {
  Sync(schema: Schema, options?: SyncOptions): Promise<DbResult>;
  Extend(part: string, schema: Schema, options?: SyncOptions): Promise<DbResult>;
  Describe(part?: string): Promise<DbResult>;
  Insert<T extends TableOf<S, N>>(
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    options?: WriteOptions,
  ): Promise<DbResult>;
  InsertAll<T extends TableOf<S, N>>(
    table: T,
    rows: readonly (JsonText | Insertable<S, N, T>)[],
    options?: WriteOptions,
  ): Promise<InsertAllResult>;
  Find<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>>(
    table: T,
    query?: Query<Read<S, N, T>, F>,
  ): Promise<PageResult<Pick<Read<S, N, T>, F>>>;
  First<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>>(
    table: T,
    query?: Query<Read<S, N, T>, F>,
  ): Promise<FirstResult<Pick<Read<S, N, T>, F>>>;
  Value<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>>>(
    table: T,
    field: F,
    query?: Query<Read<S, N, T>>,
  ): Promise<ValueResult<Read<S, N, T>[F]>>;
  FindAll<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>>(
    table: T,
    query?: AllQuery<Read<S, N, T>, F>,
  ): Promise<DbResult<Pick<Read<S, N, T>, F>>>;
  FindEach<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>>(
    table: T,
    query?: AllQuery<Read<S, N, T>, F>,
  ): AsyncGenerator<Pick<Read<S, N, T>, F>, void, undefined>;
  FindWith<T extends TableOf<S, N>, const A extends Relation | readonly Relation[]>(
    table: T,
    query: Query<Read<S, N, T>> | undefined,
    relations: A,
  ): Promise<PageResult<Read<S, N, T> & Related<A>>>;
  Aggregate<T extends TableOf<S, N>, const G extends ColumnOf<Read<S, N, T>> = never, const A extends string = never>(
    table: T,
    query: AggregateQuery<Read<S, N, T>, G, A>,
  ): Promise<PageResult<AggregateRow<Read<S, N, T>, G, A>>>;
  Count<T extends TableOf<S, N>>(table: T, filter?: Filter<Read<S, N, T>>): Promise<DbResult>;
  Update<T extends TableOf<S, N>>(
    table: T,
    change: Change<Read<S, N, T>, Settable<S, N, T>>,
    options?: WriteOptions,
  ): Promise<DbResult>;
  Upsert<T extends TableOf<S, N>>(
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    keys: readonly ColumnOf<Read<S, N, T>>[],
    options?: UpsertOptions<Read<S, N, T>>,
  ): Promise<DbResult>;
  Delete<T extends TableOf<S, N>>(
    table: T,
    selection: Selection<Read<S, N, T>>,
    options?: WriteOptions,
  ): Promise<DbResult>;
  Batch(operations: readonly (JsonText | Operation)[], options?: BatchOptions): Promise<DbResult>;
  Flush(): Promise<DbResult>;
}
