import type { Filter } from './filters.ts';
import type { AllQuery } from './find-all.ts';
import type { Relation } from './find-with.ts';
import type { Operation } from './operations.ts';
import type { AggregateQuery, BatchOptions, Query, SyncOptions, UpsertOptions, WriteOptions } from './payloads.ts';
import type {
  DbCallback,
  DbResult,
  DbTicket,
  FirstResult,
  InsertAllResult,
  PageResult,
  Tail,
  ValueResult,
} from './result.ts';
import { ResultReaders } from './result-readers.ts';
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
import { erased, type JsonText } from './typed-text.ts';
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

/** The methods of `Database` for one namespace, what `db.in('shop')` returns. Each is explained in `AsyncDatabase`. */
export interface NamespaceDatabase<S extends Declared = string, N extends NamespaceOf<S> = NamespaceOf<S>>
  extends ResultReaders {
  /** The same methods as promises. */
  readonly async: AsyncNamespace<S, N>;
  /** The same methods as promises, which reject with a `DatabaseError` if the call failed. */
  readonly orThrow: AsyncNamespace<S, N>;
  Sync(schema: Schema, ...tail: Tail<SyncOptions>): DbTicket;
  Extend(part: string, schema: Schema, ...tail: Tail<SyncOptions>): DbTicket;
  Describe(...tail: Tail<string>): DbTicket;
  Insert<T extends TableOf<S, N>>(
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    ...tail: Tail<WriteOptions>
  ): DbTicket;
  InsertAll<T extends TableOf<S, N>>(
    table: T,
    rows: readonly (JsonText | Insertable<S, N, T>)[],
    ...tail: Tail<WriteOptions, InsertAllResult>
  ): DbTicket;
  Find<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>>(
    table: T,
    ...tail: Tail<Query<Read<S, N, T>, F>, PageResult<Pick<Read<S, N, T>, F>>>
  ): DbTicket;
  First<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>>(
    table: T,
    ...tail: Tail<Query<Read<S, N, T>, F>, FirstResult<Pick<Read<S, N, T>, F>>>
  ): DbTicket;
  Value<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>>>(
    table: T,
    field: F,
    ...tail: Tail<Query<Read<S, N, T>>, ValueResult<Read<S, N, T>[F]>>
  ): DbTicket;
  FindAll<T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>>(
    table: T,
    ...tail: Tail<AllQuery<Read<S, N, T>, F>, DbResult<Pick<Read<S, N, T>, F>>>
  ): DbTicket;
  FindWith<T extends TableOf<S, N>, const A extends Relation | readonly Relation[]>(
    table: T,
    query: Query<Read<S, N, T>> | undefined,
    relations: A,
    callback?: DbCallback<PageResult<Read<S, N, T> & Related<A>>>,
  ): DbTicket;
  Aggregate<T extends TableOf<S, N>, const G extends ColumnOf<Read<S, N, T>> = never, const A extends string = never>(
    table: T,
    query: AggregateQuery<Read<S, N, T>, G, A>,
    callback?: DbCallback<PageResult<AggregateRow<Read<S, N, T>, G, A>>>,
  ): DbTicket;
  Count<T extends TableOf<S, N>>(table: T, ...tail: Tail<Filter<Read<S, N, T>>>): DbTicket;
  Update<T extends TableOf<S, N>>(
    table: T,
    change: Change<Read<S, N, T>, Settable<S, N, T>>,
    ...tail: Tail<WriteOptions>
  ): DbTicket;
  Upsert<T extends TableOf<S, N>>(
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    keys: readonly ColumnOf<Read<S, N, T>>[],
    ...tail: Tail<UpsertOptions<Read<S, N, T>>>
  ): DbTicket;
  Delete<T extends TableOf<S, N>>(table: T, selection: Selection<Read<S, N, T>>, ...tail: Tail<WriteOptions>): DbTicket;
  Batch(operations: readonly (JsonText | Operation)[], ...tail: Tail<BatchOptions>): DbTicket;
  Flush(callback?: DbCallback): DbTicket;
}

type CallbackMethod = Exclude<keyof NamespaceDatabase, keyof ResultReaders | 'async' | 'orThrow'>;

/** The methods whose first argument is a namespace. The compiler keeps the list equal to the type. */
const METHODS: Readonly<Record<CallbackMethod, true>> = {
  Sync: true,
  Extend: true,
  Describe: true,
  Insert: true,
  InsertAll: true,
  Find: true,
  First: true,
  Value: true,
  FindAll: true,
  FindWith: true,
  Aggregate: true,
  Count: true,
  Update: true,
  Upsert: true,
  Delete: true,
  Batch: true,
  Flush: true,
};

/** A database as the view sees it: all its methods take the namespace first. */
interface Whole {
  readonly async: object;
  readonly orThrow: object;
}

/** A view of the database in which the namespace is given already. */
export function namespaceOf<S extends Declared, N extends NamespaceOf<S>>(
  db: Whole,
  namespace: N,
): NamespaceDatabase<S, N> {
  const names = Object.keys(METHODS);
  const view = Object.assign(new ResultReaders(), bound(db, names, namespace), {
    async: bound(db.async, [...names, 'FindEach'], namespace),
    orThrow: bound(db.orThrow, [...names, 'FindEach'], namespace),
  });
  return erased(view);
}

function bound(target: object, names: readonly string[], namespace: string): object {
  const methods = names.map((name) => {
    const call = (...args: readonly unknown[]): unknown => {
      const method = Reflect.get(target, name) as (...all: readonly unknown[]) => unknown;
      return method.call(target, namespace, ...args);
    };
    return [name, call] as const;
  });
  return Object.fromEntries(methods);
}
