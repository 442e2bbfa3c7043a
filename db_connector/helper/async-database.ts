import type { Database, OperationName } from './database.ts';
import type { Filter, JsonText } from './filters.ts';
import type { Change, Query, Selection, SyncOptions, WriteOptions } from './payloads.ts';
import type { DbCallback, DbResult } from './result.ts';
import type { Row } from './rows.ts';
import type { Schema } from './schema.ts';

/** The methods of `Database`, each as a promise. It always resolves, with an error result where the call failed. */
export class AsyncDatabase {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Any operation, with a payload of your own: an object, or JSON text. */
  Call(operation: OperationName, payload: JsonText | object): Promise<DbResult> {
    return promise((done) => this.#db.Call(operation, payload, done));
  }

  /** Declares the whole schema of a namespace; the sidecar changes only the difference. */
  Sync(namespace: string, schema: Schema, options?: SyncOptions): Promise<DbResult> {
    return promise((done) => this.#db.Sync(namespace, schema, options, done));
  }

  /** The schema that is stored: `{ namespace, hash, schema, updatedAt }` in `Json`. */
  Describe(namespace: string): Promise<DbResult> {
    return promise((done) => this.#db.Describe(namespace, done));
  }

  /** One row, or a list of rows, of which all are inserted or none. Adds an idempotency key of its own if none is given. */
  Insert(namespace: string, table: string, rows: Row | readonly Row[], options?: WriteOptions): Promise<DbResult> {
    return promise((done) => this.#db.Insert(namespace, table, rows, options, done));
  }

  /** Rows by filter, sorted, a page at a time: read them with `Rows` and `HasMore`. */
  Find(namespace: string, table: string, query?: Query): Promise<DbResult> {
    return promise((done) => this.#db.Find(namespace, table, query, done));
  }

  /** How many rows match: read it with `Number`. */
  Count(namespace: string, table: string, filter?: Filter): Promise<DbResult> {
    return promise((done) => this.#db.Count(namespace, table, filter, done));
  }

  /** Sets and adds in all rows that match; `Number` tells how many did. Give an `idempotencyKey` where there is an `inc`. */
  Update(namespace: string, table: string, change: Change, options?: WriteOptions): Promise<DbResult> {
    return promise((done) => this.#db.Update(namespace, table, change, options, done));
  }

  /** Inserts the row, or sets its other columns where one with these keys is there. */
  Upsert(
    namespace: string,
    table: string,
    row: Row,
    keys: readonly string[],
    options?: WriteOptions,
  ): Promise<DbResult> {
    return promise((done) => this.#db.Upsert(namespace, table, row, keys, options, done));
  }

  /** Removes all rows that match the filter; `Number` tells how many there were. */
  Delete(namespace: string, table: string, selection: Selection, options?: WriteOptions): Promise<DbResult> {
    return promise((done) => this.#db.Delete(namespace, table, selection, options, done));
  }

  /** Applies queued writes now, where the owner buffers the namespace; `Flushed` reads what is left. */
  Flush(namespace: string): Promise<DbResult> {
    return promise((done) => this.#db.Flush(namespace, done));
  }

  /** What the sidecar says of itself. */
  Health(): Promise<DbResult> {
    return promise((done) => this.#db.Health(done));
  }

  /** Waits until the sidecar has answered, however long that takes. */
  Ready(): Promise<DbResult> {
    return promise((done) => this.#db.Ready(done));
  }
}

function promise(call: (done: DbCallback) => unknown): Promise<DbResult> {
  return new Promise((resolve) => {
    call(resolve);
  });
}
