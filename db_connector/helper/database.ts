import { AsyncDatabase } from './async-database.ts';
import { Deliveries } from './deliveries.ts';
import type { Filter, JsonText } from './filters.ts';
import type { DatabaseHost } from './host.ts';
import {
  type Change,
  callPayload,
  countPayload,
  deletePayload,
  findPayload,
  insertPayload,
  namespacePayload,
  type Query,
  type Selection,
  type SyncOptions,
  syncPayload,
  updatePayload,
  upsertPayload,
  type WriteOptions,
} from './payloads.ts';
import {
  type DbRow,
  type DbValue,
  type Flushed,
  readErrorMessage,
  readFlushed,
  readHasMore,
  readInsertedIds,
  readIsQueued,
  readNumber,
  readRows,
} from './readers.ts';
import { awaitSidecar } from './readiness.ts';
import { type DbCallback, type DbResult, type DbTicket, refusedTicket } from './result.ts';
import type { Row } from './rows.ts';
import type { Schema } from './schema.ts';
import { pollerOf, type TicketPoller } from './ticket-poller.ts';

/** The names that the connector knows; later versions may know more. */
export type OperationName =
  | 'health'
  | 'schema.sync'
  | 'schema.describe'
  | 'insert'
  | 'find'
  | 'update'
  | 'upsert'
  | 'delete'
  | 'count'
  | 'flush'
  | (string & {});

/** Either the argument before the callback, or the callback in its place. */
type OptionsOrCallback<T> = T | DbCallback | undefined;

/**
 * The database, for one bundle: `const db = new Database(host)`.
 *
 * A method returns at once, with a ticket. The callback is called exactly once, on a later tick, also when the
 * connector stops in between. **Errors do not throw**: look at `State` of the result. The same methods below `async`
 * return promises, which never reject.
 */
export class Database {
  /** Name of the connector's folder among the bundles. */
  connector = 'db_connector';
  /** The same methods without callbacks: `const result = await db.async.Find('game', 'characters')`. */
  readonly async: AsyncDatabase = new AsyncDatabase(this);
  readonly #host: DatabaseHost;
  readonly #poller: TicketPoller;
  readonly #deliveries: Deliveries;

  /** @param host what the bundle's `start(host)` received */
  constructor(host: DatabaseHost) {
    if (typeof host?.exports?.call !== 'function') {
      throw new TypeError('new Database(host): expected the host that start(host) receives');
    }
    this.#host = host;
    this.#poller = pollerOf(host);
    this.#deliveries = new Deliveries(host);
  }

  /** Any operation, with a payload of your own: an object, or JSON text. */
  Call(operation: OperationName, payload: JsonText | object, callback?: DbCallback): DbTicket {
    return this.#send(operation, String(operation), () => callPayload(payload), callback);
  }

  /**
   * Declares the whole schema of a namespace; the sidecar changes only the difference. Each bundle that owns a
   * namespace does this at its start.
   */
  Sync(namespace: string, schema: Schema, callback?: DbCallback): DbTicket;
  Sync(namespace: string, schema: Schema, options: SyncOptions | undefined, callback?: DbCallback): DbTicket;
  Sync(namespace: string, schema: Schema, options?: OptionsOrCallback<SyncOptions>, callback?: DbCallback): DbTicket {
    const [given, deliverTo] = split(options, callback);
    return this.#send('schema.sync', `Sync ${namespace}`, () => syncPayload(namespace, schema, given ?? {}), deliverTo);
  }

  /** The schema that is stored: `{ namespace, hash, schema, updatedAt }` in `Json`. */
  Describe(namespace: string, callback?: DbCallback): DbTicket {
    return this.#send('schema.describe', `Describe ${namespace}`, () => namespacePayload(namespace), callback);
  }

  /** One row, or a list of rows, of which all are inserted or none. Adds an idempotency key of its own if none is given. */
  Insert(namespace: string, table: string, rows: Row | readonly Row[], callback?: DbCallback): DbTicket;
  Insert(
    namespace: string,
    table: string,
    rows: Row | readonly Row[],
    options: WriteOptions | undefined,
    callback?: DbCallback,
  ): DbTicket;
  Insert(
    namespace: string,
    table: string,
    rows: Row | readonly Row[],
    options?: OptionsOrCallback<WriteOptions>,
    callback?: DbCallback,
  ): DbTicket {
    const [given, deliverTo] = split(options, callback);
    const payload = () => insertPayload(namespace, table, rows, given ?? {});
    return this.#send('insert', `Insert ${namespace}.${table}`, payload, deliverTo);
  }

  /** Rows by filter, sorted, a page at a time: read them with `Rows` and `HasMore`. */
  Find(namespace: string, table: string, callback?: DbCallback): DbTicket;
  Find(namespace: string, table: string, query: Query | undefined, callback?: DbCallback): DbTicket;
  Find(namespace: string, table: string, query?: OptionsOrCallback<Query>, callback?: DbCallback): DbTicket {
    const [given, deliverTo] = split(query, callback);
    return this.#send(
      'find',
      `Find ${namespace}.${table}`,
      () => findPayload(namespace, table, given ?? {}),
      deliverTo,
    );
  }

  /** How many rows match: read it with `Number`. */
  Count(namespace: string, table: string, callback?: DbCallback): DbTicket;
  Count(namespace: string, table: string, filter: Filter | undefined, callback?: DbCallback): DbTicket;
  Count(namespace: string, table: string, filter?: OptionsOrCallback<Filter>, callback?: DbCallback): DbTicket {
    const [given, deliverTo] = split(filter, callback);
    return this.#send('count', `Count ${namespace}.${table}`, () => countPayload(namespace, table, given), deliverTo);
  }

  /**
   * Sets and adds in all rows that match; `Number` tells how many did. Give an `idempotencyKey` where there is an `inc`,
   * so that a lost answer can be asked for again.
   */
  Update(namespace: string, table: string, change: Change, callback?: DbCallback): DbTicket;
  Update(
    namespace: string,
    table: string,
    change: Change,
    options: WriteOptions | undefined,
    callback?: DbCallback,
  ): DbTicket;
  Update(
    namespace: string,
    table: string,
    change: Change,
    options?: OptionsOrCallback<WriteOptions>,
    callback?: DbCallback,
  ): DbTicket {
    const [given, deliverTo] = split(options, callback);
    const payload = () => updatePayload(namespace, table, change, given ?? {});
    return this.#send('update', `Update ${namespace}.${table}`, payload, deliverTo);
  }

  /**
   * Inserts the row, or sets its other columns where one with these keys is there. `keys` are the columns of the primary
   * key or of one unique index. Adds an idempotency key of its own if none is given.
   */
  Upsert(namespace: string, table: string, row: Row, keys: readonly string[], callback?: DbCallback): DbTicket;
  Upsert(
    namespace: string,
    table: string,
    row: Row,
    keys: readonly string[],
    options: WriteOptions | undefined,
    callback?: DbCallback,
  ): DbTicket;
  Upsert(
    namespace: string,
    table: string,
    row: Row,
    keys: readonly string[],
    options?: OptionsOrCallback<WriteOptions>,
    callback?: DbCallback,
  ): DbTicket {
    const [given, deliverTo] = split(options, callback);
    const payload = () => upsertPayload(namespace, table, row, keys, given ?? {});
    return this.#send('upsert', `Upsert ${namespace}.${table}`, payload, deliverTo);
  }

  /** Removes all rows that match the filter; `Number` tells how many there were. */
  Delete(namespace: string, table: string, selection: Selection, callback?: DbCallback): DbTicket;
  Delete(
    namespace: string,
    table: string,
    selection: Selection,
    options: WriteOptions | undefined,
    callback?: DbCallback,
  ): DbTicket;
  Delete(
    namespace: string,
    table: string,
    selection: Selection,
    options?: OptionsOrCallback<WriteOptions>,
    callback?: DbCallback,
  ): DbTicket {
    const [given, deliverTo] = split(options, callback);
    const payload = () => deletePayload(namespace, table, selection, given ?? {});
    return this.#send('delete', `Delete ${namespace}.${table}`, payload, deliverTo);
  }

  /** Applies queued writes now, where the owner buffers the namespace; `Flushed` reads what is left. */
  Flush(namespace: string, callback?: DbCallback): DbTicket {
    return this.#send('flush', `Flush ${namespace}`, () => namespacePayload(namespace), callback);
  }

  /** What the sidecar says of itself. */
  Health(callback?: DbCallback): DbTicket {
    return this.#send('health', 'Health', () => '{}', callback);
  }

  /**
   * Waits until the sidecar has answered, however long that takes, through a connector that is not there yet too.
   * Its ticket names no call, since many may be made.
   */
  Ready(callback?: DbCallback): DbTicket {
    const deliver = this.#deliveries.to('Ready', callback ?? (() => {}));
    awaitSidecar(
      {
        ask: (answer) => this.Health(answer),
        isStopped: () => this.#poller.isStopped,
        log: (line) => this.#host.log(line),
      },
      deliver,
    );
    return { Id: '', Accepted: true, Error: '' };
  }

  /** The rows of a `Find`; none after an error. Integers past 2^53 are BigInt, decimals that no double holds are text. */
  Rows<T extends object = DbRow>(result: DbResult): T[] {
    return readRows<T>(result);
  }

  /** Whether there are more rows than a `Find` gave. */
  HasMore(result: DbResult): boolean {
    return readHasMore(result);
  }

  /** How many rows were counted, changed, deleted or inserted; 0 after an error. */
  Number(result: DbResult): number {
    return readNumber(result);
  }

  /** The primary keys of an `Insert`, in the order of its rows, where the key is a single column. */
  InsertedIds<T extends DbValue = DbValue>(result: DbResult): T[] {
    return readInsertedIds(result) as T[];
  }

  /** The write waits in the write-behind queue; how many rows it will change, and which ids they get, is not known yet. */
  IsQueued(result: DbResult): boolean {
    return readIsQueued(result);
  }

  /** What a `Flush` did. `State` `ok` is not enough: look at `remaining`, `halted` and `deadLettered`. All zero after an error. */
  Flushed(result: DbResult): Flushed {
    return readFlushed(result);
  }

  /** `code: message` of an error; empty where there is none. */
  ErrorMessage(result: DbResult): string {
    return readErrorMessage(result);
  }

  #send(operation: string, what: string, payloadOf: () => JsonText, callback: DbCallback | undefined): DbTicket {
    const deliver = this.#deliveries.to(what, callback);
    let json: JsonText;
    try {
      json = payloadOf();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return this.#poller.refuse(refusedTicket('invalid_request', message), deliver);
    }
    return this.#poller.call(this.connector, operation, json, deliver);
  }
}

function split<T>(
  given: OptionsOrCallback<T>,
  callback: DbCallback | undefined,
): [T | undefined, DbCallback | undefined] {
  return isCallback(given) ? [undefined, given] : [given, callback];
}

function isCallback(given: unknown): given is DbCallback {
  return typeof given === 'function';
}
