import { AsyncDatabase, type OperationName } from './async-database.ts';
import { setClock } from './clock.ts';
import { throwing } from './database-error.ts';
import { Deliveries } from './deliveries.ts';
import type { Filter } from './filters.ts';
import type { AllQuery } from './find-all.ts';
import type { Relation } from './find-with.ts';
import type { DatabaseHost } from './host.ts';
import { UnknownName } from './known-names.ts';
import { type NamespaceDatabase, namespaceOf } from './namespace-database.ts';
import type { Operation } from './operations.ts';
import type { AggregateQuery, BatchOptions, Query, SyncOptions, UpsertOptions, WriteOptions } from './payloads.ts';
import { awaitSidecar } from './readiness.ts';
import { type Request, requests } from './request.ts';
import {
  type DbCallback,
  type DbResult,
  type DbTicket,
  type FirstResult,
  type InsertAllResult,
  type PageResult,
  refusedTicket,
  type Tail,
  UNNAMED_TICKET,
  type ValueResult,
} from './result.ts';
import { ResultReaders } from './result-readers.ts';
import type { Schema } from './schema.ts';
import { pollerOf, type TicketPoller } from './ticket-poller.ts';
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
import type { Call } from './waiting-calls.ts';
import type { Change, Selection } from './writes.ts';

/**
 * The database, for one bundle: `const db = new Database(host)`; with the types of its rows,
 * `new Database<typeof SCHEMA>(host)`, or of several namespaces, `new Database<{ game: typeof SCHEMA }>(host)`.
 *
 * A method returns at once, with a ticket. The callback is called exactly once, on a later tick, also when the
 * connector stops in between. **Errors do not throw**: look at `State` of the result. The same methods below `async`
 * return promises, which never reject; there each is explained.
 */
export class Database<S extends Declared = string> extends ResultReaders {
  /** Name of the connector's folder among the bundles. */
  connector = 'db_connector';
  /** The same methods without callbacks: `const result = await db.async.Find('game', 'characters')`. */
  readonly async: AsyncDatabase<S>;
  /** The methods of `async`, whose promises reject with a `DatabaseError` if a call failed. */
  readonly orThrow: AsyncDatabase<S>;
  readonly #host: DatabaseHost;
  readonly #poller: TicketPoller;
  readonly #deliveries: Deliveries;

  /** @param host what the bundle's `start(host)` received */
  constructor(host: DatabaseHost) {
    super();
    if (typeof host?.exports?.call !== 'function') {
      throw new TypeError('new Database(host): expected the host that start(host) receives');
    }
    this.#host = host;
    this.#poller = pollerOf(host);
    this.#deliveries = new Deliveries(host);
    this.async = new AsyncDatabase<S>(
      (request) => new Promise((resolve) => this.#send(request, resolve)),
      () => new Promise((resolve) => this.#awaitSidecar(resolve)),
    );
    this.orThrow = throwing(this.async);
    setClock(host.name, () => host.exports.call(this.connector, 'ClockOffset'));
  }

  /** The methods for one namespace, without the argument that names it: `const shop = db.in('shop')`. */
  in<N extends NamespaceOf<S>>(namespace: N): NamespaceDatabase<S, N> {
    return namespaceOf<S, N>(this, namespace);
  }

  Call(operation: OperationName, payload: JsonText | object, callback?: DbCallback): DbTicket {
    return this.#deliver(requests.Call(operation, payload), callback);
  }

  Sync(namespace: NamespaceOf<S>, schema: Schema, ...tail: Tail<SyncOptions>): DbTicket {
    const [options, callback] = split<SyncOptions>(tail);
    return this.#deliver(requests.Sync(namespace, schema, options), callback);
  }

  Extend(namespace: NamespaceOf<S>, part: string, schema: Schema, ...tail: Tail<SyncOptions>): DbTicket {
    const [options, callback] = split<SyncOptions>(tail);
    return this.#deliver(requests.Extend(namespace, part, schema, options), callback);
  }

  Describe(namespace: NamespaceOf<S>, ...tail: Tail<string>): DbTicket {
    const [part, callback] = split<string>(tail);
    return this.#deliver(requests.Describe(namespace, part), callback);
  }

  Insert<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    ...tail: Tail<WriteOptions>
  ): DbTicket {
    const [options, callback] = split<WriteOptions>(tail);
    return this.#deliver(requests.Insert(namespace, table, rows, options), callback);
  }

  InsertAll<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    rows: readonly (JsonText | Insertable<S, N, T>)[],
    ...tail: Tail<WriteOptions, InsertAllResult>
  ): DbTicket {
    const [options, callback] = split<WriteOptions, InsertAllResult>(tail);
    const inserted = this.async.InsertAll(namespace, table, rows, options);
    return this.#deliverAll(`InsertAll ${namespace}.${table}`, inserted, callback);
  }

  Find<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>,
  >(namespace: N, table: T, ...tail: Tail<Query<Read<S, N, T>, F>, PageResult<Pick<Read<S, N, T>, F>>>): DbTicket {
    const [query, callback] = split<Query, PageResult<Pick<Read<S, N, T>, F>>>(tail);
    return this.#deliver(requests.Find(namespace, table, query), callback);
  }

  First<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>,
  >(namespace: N, table: T, ...tail: Tail<Query<Read<S, N, T>, F>, FirstResult<Pick<Read<S, N, T>, F>>>): DbTicket {
    const [query, callback] = split<Query<Read<S, N, T>, F>, FirstResult<Pick<Read<S, N, T>, F>>>(tail);
    return this.#deliverAll(`First ${namespace}.${table}`, this.async.First(namespace, table, query), callback);
  }

  Value<N extends NamespaceOf<S>, T extends TableOf<S, N>, const F extends ColumnOf<Read<S, N, T>>>(
    namespace: N,
    table: T,
    field: F,
    ...tail: Tail<Query<Read<S, N, T>>, ValueResult<Read<S, N, T>[F]>>
  ): DbTicket {
    const [query, callback] = split<Query<Read<S, N, T>>, ValueResult<Read<S, N, T>[F]>>(tail);
    return this.#deliverAll(`Value ${namespace}.${table}`, this.async.Value(namespace, table, field, query), callback);
  }

  FindAll<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const F extends ColumnOf<Read<S, N, T>> = ColumnOf<Read<S, N, T>>,
  >(namespace: N, table: T, ...tail: Tail<AllQuery<Read<S, N, T>, F>, DbResult<Pick<Read<S, N, T>, F>>>): DbTicket {
    const [query, callback] = split<AllQuery<Read<S, N, T>, F>, DbResult<Pick<Read<S, N, T>, F>>>(tail);
    return this.#deliverAll(`FindAll ${namespace}.${table}`, this.async.FindAll(namespace, table, query), callback);
  }

  FindWith<N extends NamespaceOf<S>, T extends TableOf<S, N>, const A extends Relation | readonly Relation[]>(
    namespace: N,
    table: T,
    query: Query<Read<S, N, T>> | undefined,
    relations: A,
    callback?: DbCallback<PageResult<Read<S, N, T> & Related<A>>>,
  ): DbTicket {
    const found = this.async.FindWith(namespace, table, query, relations);
    return this.#deliverAll(`FindWith ${namespace}.${table}`, found, callback);
  }

  Aggregate<
    N extends NamespaceOf<S>,
    T extends TableOf<S, N>,
    const G extends ColumnOf<Read<S, N, T>> = never,
    const A extends string = never,
  >(
    namespace: N,
    table: T,
    query: AggregateQuery<Read<S, N, T>, G, A>,
    callback?: DbCallback<PageResult<AggregateRow<Read<S, N, T>, G, A>>>,
  ): DbTicket {
    return this.#deliver(requests.Aggregate(namespace, table, erased(query)), callback);
  }

  Count<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    ...tail: Tail<Filter<Read<S, N, T>>>
  ): DbTicket {
    const [filter, callback] = split<Filter>(tail);
    return this.#deliver(requests.Count(namespace, table, filter), callback);
  }

  Update<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    change: Change<Read<S, N, T>, Settable<S, N, T>>,
    ...tail: Tail<WriteOptions>
  ): DbTicket {
    const [options, callback] = split<WriteOptions>(tail);
    return this.#deliver(requests.Update(namespace, table, erased(change), options), callback);
  }

  Upsert<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    rows: JsonText | Insertable<S, N, T> | readonly (JsonText | Insertable<S, N, T>)[],
    keys: readonly ColumnOf<Read<S, N, T>>[],
    ...tail: Tail<UpsertOptions<Read<S, N, T>>>
  ): DbTicket {
    const [options, callback] = split<UpsertOptions>(tail);
    if (Array.isArray(rows)) {
      const written = this.async.Upsert(namespace, table, rows, keys, erased(options));
      return this.#deliverAll(`Upsert ${namespace}.${table}`, written, callback);
    }
    return this.#deliver(requests.Upsert(namespace, table, rows, keys, options), callback);
  }

  Delete<N extends NamespaceOf<S>, T extends TableOf<S, N>>(
    namespace: N,
    table: T,
    selection: Selection<Read<S, N, T>>,
    ...tail: Tail<WriteOptions>
  ): DbTicket {
    const [options, callback] = split<WriteOptions>(tail);
    return this.#deliver(requests.Delete(namespace, table, erased(selection), options), callback);
  }

  Batch(
    namespace: NamespaceOf<S>,
    operations: readonly (JsonText | Operation)[],
    ...tail: Tail<BatchOptions>
  ): DbTicket {
    const [options, callback] = split<BatchOptions>(tail);
    return this.#deliver(requests.Batch(namespace, operations, options), callback);
  }

  Flush(namespace: NamespaceOf<S>, callback?: DbCallback): DbTicket {
    return this.#deliver(requests.Flush(namespace), callback);
  }

  Health(callback?: DbCallback): DbTicket {
    return this.#deliver(requests.Health(), callback);
  }

  /**
   * Waits until the sidecar has answered, however long that takes, through a connector that is not there yet too.
   * Its ticket names no call, since many may be made.
   */
  Ready(callback?: DbCallback): DbTicket {
    this.#awaitSidecar(this.#deliveries.to('Ready', callback ?? (() => {})));
    return UNNAMED_TICKET;
  }

  #deliver<R extends DbResult>(request: Request, callback: DbCallback<R> | undefined): DbTicket {
    const call = this.#send(request, this.#deliveries.to(request.what, callback as DbCallback | undefined));
    return 'Accepted' in call ? call : this.#poller.ticketOf(call);
  }

  /** Several calls, whose end the script hears once. */
  #deliverAll<R extends DbResult>(what: string, results: Promise<R>, callback: DbCallback<R> | undefined): DbTicket {
    void results.then(this.#deliveries.to(what, callback as DbCallback | undefined));
    return UNNAMED_TICKET;
  }

  #send({ operation, what, payload, complete }: Request, hand: (result: DbResult) => void): DbTicket | Call {
    const deliver = complete === undefined ? hand : (result: DbResult) => hand(complete(result));
    let json: JsonText;
    try {
      json = payload();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof UnknownName) this.#deliveries.tellFault(what, message);
      return this.#poller.refuse(refusedTicket('invalid_request', message), deliver);
    }
    return this.#poller.call(this.connector, operation, json, deliver);
  }

  #awaitSidecar(deliver: (result: DbResult) => void): void {
    awaitSidecar(
      {
        ask: (answer) => this.#send(requests.Health(), answer),
        isStopped: () => this.#poller.isStopped,
        log: (line) => this.#host.log(line),
      },
      deliver,
    );
  }
}

function split<O, R extends DbResult = DbResult>(tail: readonly unknown[]): [O | undefined, DbCallback<R> | undefined] {
  // No pattern of a list: its iterator costs more than the rest, in each call.
  const given = tail[0];
  if (typeof given === 'function') return [undefined, given as DbCallback<R>];
  return [(given ?? undefined) as O | undefined, tail[1] as DbCallback<R> | undefined];
}
