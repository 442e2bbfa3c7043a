import { dirname } from 'node:path';
import SQLite, { type Database, type Statement } from 'better-sqlite3';
import { ApiError } from '#protocol/errors.ts';
import { makeFolder } from '../../make-folder.ts';
import { UnusableDatabaseError } from '../model/failures.ts';
import type { RowWriter } from '../model/page.ts';
import { StaleSchemaError } from '../rows.ts';
import type { Physical } from './dialect.ts';
import { prepareSystemTables } from './system-tables.ts';
import { DeadlineGuard, registerFunctions } from './worker/functions.ts';
import type { IndexedSql, StatementDefinition, WorkerSettings } from './worker/messages.ts';
import { expectedMs } from './worker/monotonic.ts';
import { rowWriter } from './worker/row-json.ts';

export type Prepared = Statement<Physical[], Physical[]>;

interface KnownStatement {
  readonly definition: StatementDefinition;
  readonly writer: RowWriter;
  prepared: Prepared | null;
  /** Whether the text of `definition.indexed` is prepared. */
  isIndexed: boolean;
  /** Expected time of a run; null before the first one. */
  runMs: number | null;
}

/** How long SQLite itself waits for another process; the caller retries and checks its deadline in between. */
const BUSY_WAIT_MS = 100;
/** KiB of pages kept per connection: one writer and three readers stay far below the memory allowed to the sidecar. */
const CACHE_KIB = { writer: 8_000, reader: 4_000 } as const;
/** The WAL is cut back to this after it grew under a long read. */
const JOURNAL_LIMIT_BYTES = 64 * 1024 * 1024;

const MAX_STATEMENTS = 1200;

/** The one connection of a worker, opened when it is first needed and again after it broke. */
export class Connection {
  readonly guard = new DeadlineGuard();
  readonly #file: string;
  readonly #role: 'writer' | 'reader';
  readonly #leavesCheckpoints: boolean;
  readonly #statements = new Map<number, KnownStatement>();
  readonly #own = new Map<string, Statement>();
  #db: Database | null = null;

  constructor({ file, role, leavesCheckpoints }: Pick<WorkerSettings, 'file' | 'role' | 'leavesCheckpoints'>) {
    this.#leavesCheckpoints = leavesCheckpoints;
    this.#file = file;
    this.#role = role;
  }

  /** @throws SqliteError, UnusableDatabaseError */
  open(): Database {
    this.#db ??= this.#opened();
    return this.#db;
  }

  #opened(): Database {
    const isWriter = this.#role === 'writer';
    if (isWriter) makeFolder(dirname(this.#file));
    const db = new SQLite(this.#file, { readonly: !isWriter, fileMustExist: !isWriter, timeout: BUSY_WAIT_MS });
    try {
      db.pragma(`cache_size = -${CACHE_KIB[this.#role]}`);
      db.pragma('trusted_schema = OFF');
      db.pragma('cell_size_check = ON');
      if (isWriter) prepareForWriting(db);
      if (this.#leavesCheckpoints) db.pragma('wal_autocheckpoint = 0');
      registerFunctions(db, this.guard);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Never throws: a connection that cannot be closed is given up. */
  close(): void {
    const db = this.#db;
    this.#db = null;
    this.#own.clear();
    for (const known of this.#statements.values()) known.prepared = null;
    try {
      db?.close();
    } catch {
      // The file is broken: the next open reports it.
    }
  }

  /** Statements are forgotten beyond a limit far above what the API's thread uses at a time, the oldest first. */
  define(definitions: readonly StatementDefinition[]): void {
    const news = definitions.filter(({ number }) => !this.#statements.has(number));
    if (this.#statements.size + news.length > MAX_STATEMENTS) this.#forget(definitions, news.length);
    for (const definition of news) {
      this.#statements.set(definition.number, {
        definition,
        writer: rowWriter(definition.columns),
        prepared: null,
        isIndexed: false,
        runMs: null,
      });
    }
  }

  #forget(kept: readonly StatementDefinition[], more: number): void {
    const keptNumbers = new Set(kept.map(({ number }) => number));
    for (const number of this.#statements.keys()) {
      if (this.#statements.size + more <= MAX_STATEMENTS) break;
      if (!keptNumbers.has(number)) this.#statements.delete(number);
    }
  }

  /** A defined statement and the writer of its rows. Results are arrays of physical values. */
  statement(number: number): KnownStatement & { readonly prepared: Prepared } {
    const known = this.#statements.get(number);
    if (known === undefined)
      throw new ApiError('conflict_retry', 'too many different statements at a time; repeat the call');
    known.prepared ??= this.#prepare(known);
    return known as KnownStatement & { readonly prepared: Prepared };
  }

  /** Expected time of the statement; null if it never ran or was forgotten. */
  runMs(number: number): number | null {
    return this.#statements.get(number)?.runMs ?? null;
  }

  noteRun(number: number, ranMs: number): void {
    const known = this.#statements.get(number);
    if (known !== undefined) known.runMs = expectedMs(ranMs, known.runMs);
  }

  #prepare(known: KnownStatement): Prepared {
    const { sql, indexed } = known.definition;
    const db = this.open();
    known.isIndexed = indexed !== undefined && isPlannedByIndex(db, indexed);
    const prepared = db.prepare<Physical[], Physical[]>(known.isIndexed ? (indexed?.sql ?? sql) : sql);
    return prepared.reader ? prepared.raw() : prepared;
  }

  /** A statement of the worker itself, cached by its text. */
  own(sql: string): Statement {
    let statement = this.#own.get(sql);
    if (statement === undefined) {
      statement = this.open().prepare(sql);
      this.#own.set(sql, statement);
    }
    return statement;
  }

  /** To be called inside a transaction. @throws StaleSchemaError */
  checkRevision(namespace: string, revision: number): void {
    const row = this.own('SELECT revision FROM _schemas WHERE namespace = ?').get(namespace) as
      | { readonly revision: number }
      | undefined;
    if (row?.revision !== revision) throw new StaleSchemaError(namespace);
  }

  /** Ends a transaction that an error left open; false if SQLite has ended it. */
  rollBack(): boolean {
    if (this.#db === null || !this.#db.inTransaction) return false;
    try {
      this.#db.exec('ROLLBACK');
      return true;
    } catch {
      this.close();
      return false;
    }
  }

  get isInTransaction(): boolean {
    return this.#db?.inTransaction ?? false;
  }
}

/** Revisions of namespaces in one transaction, each looked at once: it holds until the end of the transaction. */
export class CheckedRevisions {
  readonly #connection: Connection;
  readonly #checked = new Map<string, number>();

  /** For one transaction. */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** @throws StaleSchemaError */
  check(namespace: string, revision: number): void {
    if (this.#checked.get(namespace) === revision) return;
    this.#connection.checkRevision(namespace, revision);
    this.#checked.set(namespace, revision);
  }
}

/** A single step over an index, or over the table in the order of its row ids. */
const INDEX_STEP = /^SEARCH \S+ USING (?:(?:COVERING )?INDEX \S+|INTEGER PRIMARY KEY) \((.+)\)$/;
const WHOLE_STEP = /^SCAN \S+(?: USING (?:COVERING )?INDEX \S+)?$/;

function isPlannedByIndex(db: Database, { sql, terms }: IndexedSql): boolean {
  const places = sql.split('?').length - 1;
  const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array(places).fill(1)) as { readonly detail: string }[];
  const [{ detail } = { detail: '' }, ...others] = steps;
  if (others.length > 0) return false;
  const [, taken] = INDEX_STEP.exec(detail) ?? [];
  return taken === undefined ? terms === 0 && WHOLE_STEP.test(detail) : taken.split('?').length - 1 === terms;
}

function prepareForWriting(db: Database): void {
  // Before anything is written: a file of a newer version or another program is not touched, not even its journal mode.
  prepareSystemTables(db);
  if (db.pragma('journal_mode = WAL', { simple: true }) !== 'wal') {
    throw new UnusableDatabaseError('the file cannot be switched to a write-ahead log; is it on a network drive?');
  }
  db.pragma('synchronous = FULL');
  db.pragma(`journal_size_limit = ${JOURNAL_LIMIT_BYTES}`);
}

/** A call whose deadline passed before it started. */
export function expiredBeforeStart(): ApiError {
  return new ApiError('database_timeout', 'the database was busy until the time was over; nothing was done');
}

/** A batch whose remaining operations did not arrive in time. */
export function expiredInTheMiddle(): ApiError {
  return new ApiError('database_timeout', 'the batch took too long; nothing was changed');
}
