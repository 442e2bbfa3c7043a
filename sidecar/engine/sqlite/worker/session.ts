import type { Database } from 'better-sqlite3';
import type { Session, Sessions, SqlBounds, SqlParam, SqlResult, TakeRow } from '#engine/sql/session.ts';
import type { Connection } from '../connection.ts';

/**
 * The worker's own connection, for the code of `sql/`. A statement has run when its promise is made; the worker arms the
 * deadline guard before the work, and runs nothing else on the connection until the work has ended.
 */
export class WorkerSessions implements Sessions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** A single snapshot; on a reader it is that of the batch. */
  async read<T>({ deadline }: SqlBounds, work: (session: Session) => Promise<T>): Promise<T> {
    const session = new WorkerSession(this.#connection, deadline);
    if (this.#connection.isInTransaction) return work(session);
    this.#connection.own('BEGIN').run();
    try {
      return await work(session);
    } finally {
      this.#connection.rollBack();
    }
  }

  write<T>({ deadline }: SqlBounds, work: (session: Session) => Promise<T>): Promise<T> {
    return work(new WorkerSession(this.#connection, deadline));
  }

  async transaction<T>({ deadline }: SqlBounds, work: (session: Session) => Promise<T>): Promise<T> {
    const db = this.#connection.open();
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = await work(new WorkerSession(this.#connection, deadline));
      db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#connection.rollBack();
      throw error;
    }
  }
}

/** Schema statements run once, so they are not prepared: a prepared statement lives on and expires with each change. */
const SCHEMA_STATEMENT = /^(?:CREATE|ALTER|DROP) /;

class WorkerSession implements Session {
  readonly deadline: number;
  readonly #connection: Connection;

  constructor(connection: Connection, deadline: number) {
    this.#connection = connection;
    this.deadline = deadline;
  }

  async query(text: string, params: readonly SqlParam[] = []): Promise<SqlResult> {
    if (SCHEMA_STATEMENT.test(text)) {
      this.#open().exec(text);
      return { rows: [], affected: 0, insertId: null };
    }
    const statement = this.#open().prepare<SqlParam[]>(text);
    if (!statement.reader) return { rows: [], affected: statement.run(...params).changes, insertId: null };
    const rows = statement
      .raw()
      .safeIntegers()
      .all(...params) as unknown[][];
    return { rows, affected: rows.length, insertId: null };
  }

  prepared(text: string, params: readonly SqlParam[]): Promise<SqlResult> {
    return this.query(text, params);
  }

  async stream(text: string, params: readonly SqlParam[], take: TakeRow): Promise<void> {
    const rows = this.#open().prepare<SqlParam[]>(text).raw().safeIntegers();
    for (const row of rows.iterate(...params)) if (!take(row as unknown[])) return;
  }

  /** @throws ApiError `database_timeout` after the deadline */
  #open(): Database {
    this.#connection.guard.check();
    return this.#connection.open();
  }
}
