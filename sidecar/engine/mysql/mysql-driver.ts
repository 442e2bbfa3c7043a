import type { ConnectionOptions } from 'mysql2';
import type { ServerSettings } from '../open.ts';
import { type ConnectionMaker, ConnectionPool } from '../sql/connection-pool.ts';
import { DeadlineSession } from '../sql/deadline-session.ts';
import type { SqlFailure, SqlParam, SqlResult, TakeRow } from '../sql/session.ts';
import type { SqlDriver } from '../sql/sql-driver.ts';
import { CONNECT_TIMEOUT_MS, connectionOptions } from './connection-options.ts';
import { classify, describe } from './failures.ts';
import { inTime, killQuery, MysqlConnection } from './mysql-connection.ts';
import type { Flavour } from './schema-types.ts';
import { checkServer, SERVER_FACTS, setUpSql } from './session-setup.ts';
import { prepareSystemTables } from './system-tables.ts';

/** The first connection makes the system tables, which may wait for the disk of the server. */
const PREPARE_TIMEOUT_MS = 15_000;
const CANCEL_TIMEOUT_MS = 1000;
const NOTHING = { isKept: false, take: null } as const;

/** mysql2 behind `SqlDriver`, for MySQL and MariaDB. */
export class MysqlDriver implements SqlDriver<MysqlConnection>, ConnectionMaker<MysqlConnection> {
  readonly #options: ConnectionOptions;
  readonly #setUp: string;
  readonly #pool: ConnectionPool<MysqlConnection>;
  /** All that are open or being made. */
  readonly #connections = new Set<MysqlConnection>();
  #flavour: Flavour | null = null;

  /** @throws Error with one clear line for a URL that says too little */
  constructor({ url, poolSize, statementTimeoutMs }: ServerSettings) {
    this.#options = connectionOptions(url);
    this.#setUp = setUpSql(Math.ceil(statementTimeoutMs / 1000) + 1);
    this.#pool = new ConnectionPool<MysqlConnection>(this, poolSize);
  }

  /** Null before the first connection. */
  get flavour(): Flavour | null {
    return this.#flavour;
  }

  acquire(deadline: number): Promise<MysqlConnection | null> {
    return this.#pool.acquire(deadline);
  }

  release(connection: MysqlConnection): void {
    this.#pool.release(connection);
  }

  discard(connection: MysqlConnection): void {
    this.#destroy(connection);
    this.#pool.release(connection);
  }

  isUsable(connection: MysqlConnection): boolean {
    return connection.isUsable;
  }

  query(
    connection: MysqlConnection,
    text: string,
    params: readonly SqlParam[] | undefined,
    isPrepared: boolean,
    take: TakeRow | null = null,
  ): Promise<SqlResult> {
    return connection.query(text, params, { isKept: isPrepared, take });
  }

  begin(connection: MysqlConnection): Promise<unknown> {
    return connection.query('START TRANSACTION', undefined, NOTHING);
  }

  commit(connection: MysqlConnection): Promise<unknown> {
    return connection.query('COMMIT', undefined, NOTHING);
  }

  rollback(connection: MysqlConnection): Promise<unknown> {
    return connection.query('ROLLBACK', undefined, NOTHING);
  }

  cancel(connection: MysqlConnection): Promise<void> {
    return killQuery(this.#options, connection.threadId, CANCEL_TIMEOUT_MS);
  }

  classify(error: unknown): SqlFailure {
    return classify(error);
  }

  describe(error: unknown): string {
    return describe(error);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async connect(): Promise<MysqlConnection> {
    let made: MysqlConnection | null = null;
    try {
      const connection = await MysqlConnection.open(this.#options, (opened) => {
        made = opened;
        this.#connections.add(opened);
      });
      await inTime(connection, CONNECT_TIMEOUT_MS, connection.query(this.#setUp, undefined, NOTHING));
      if (this.#flavour === null) await inTime(connection, PREPARE_TIMEOUT_MS, this.#prepare(connection));
      return connection;
    } catch (error) {
      if (made !== null) this.#destroy(made);
      throw error;
    }
  }

  async end(connection: MysqlConnection): Promise<void> {
    if (connection.isUsable) await inTime(connection, CANCEL_TIMEOUT_MS, connection.end()).catch(() => {});
    this.#destroy(connection);
  }

  endAll(): void {
    for (const connection of this.#connections) void this.end(connection);
  }

  destroyAll(): void {
    for (const connection of this.#connections) this.#destroy(connection);
  }

  #destroy(connection: MysqlConnection): void {
    this.#connections.delete(connection);
    connection.destroy();
  }

  /** Once, on whatever connection comes first; several may do it at the same time. */
  async #prepare(connection: MysqlConnection): Promise<void> {
    const { rows } = await connection.query(SERVER_FACTS, undefined, NOTHING);
    const flavour = checkServer(rows[0] ?? []);
    const session = new DeadlineSession(this, connection, performance.now() + PREPARE_TIMEOUT_MS);
    try {
      await prepareSystemTables(session, flavour);
    } finally {
      session.end();
    }
    this.#flavour = flavour;
  }
}
