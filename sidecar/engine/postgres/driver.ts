import type { ServerSettings } from '../settings.ts';
import type { SqlDriver } from '../sql/pool/driver.ts';
import { type ConnectionMaker, ConnectionPool } from '../sql/pool/pool.ts';
import type { SqlFailure, SqlParam, SqlResult } from '../sql/session.ts';
import { PostgresConnection } from './connection.ts';
import { classify, describeError } from './failures.ts';
import { StatementNames } from './statement-names.ts';

/** Prepares a database on the first connection to it. */
export type Prepare = (connection: PostgresConnection, driver: PostgresDriver) => Promise<void>;

/** The driver `pg` below `PooledSessions`. */
export class PostgresDriver implements SqlDriver<PostgresConnection>, ConnectionMaker<PostgresConnection> {
  readonly endsCancelled = true;
  readonly #settings: ServerSettings;
  readonly #prepare: Prepare;
  readonly #names = new StatementNames();
  readonly #open = new Set<PostgresConnection>();
  readonly #pool: ConnectionPool<PostgresConnection>;
  #isPrepared = false;

  constructor(settings: ServerSettings, prepare: Prepare) {
    this.#settings = settings;
    this.#prepare = prepare;
    this.#pool = new ConnectionPool(this, settings.poolSize);
  }

  async connect(): Promise<PostgresConnection> {
    const connection = new PostgresConnection(this.#settings, this.#names);
    this.#open.add(connection);
    try {
      await connection.connect();
      if (!this.#isPrepared) await this.#prepare(connection, this);
      this.#isPrepared = true;
      return connection;
    } catch (error) {
      this.discard(connection, false);
      throw error;
    }
  }

  isUsable(connection: PostgresConnection): boolean {
    return connection.isUsable;
  }

  async end(connection: PostgresConnection): Promise<void> {
    this.#noteLoss(connection);
    await connection.end();
    this.#open.delete(connection);
  }

  endAll(): void {
    for (const connection of this.#open) connection.end().catch(() => {});
  }

  destroyAll(): void {
    for (const connection of this.#open) connection.destroy();
    this.#open.clear();
  }

  acquire(deadline: number): Promise<PostgresConnection | null> {
    return this.#pool.acquire(deadline);
  }

  release(connection: PostgresConnection): void {
    if (connection.isWornOut) this.discard(connection);
    else this.#pool.release(connection);
  }

  discard(connection: PostgresConnection, isPooled = true): void {
    this.#noteLoss(connection);
    connection.destroy();
    this.#open.delete(connection);
    if (isPooled) this.#pool.release(connection);
  }

  /** Behind the same address there may be another database when it comes back. */
  #noteLoss(connection: PostgresConnection): void {
    if (!connection.isUsable) this.#isPrepared = false;
  }

  query(
    connection: PostgresConnection,
    text: string,
    params: readonly SqlParam[] | undefined,
    isPrepared: boolean,
  ): Promise<SqlResult> {
    return connection.query(text, params, isPrepared);
  }

  begin(connection: PostgresConnection): Promise<unknown> {
    return connection.query('BEGIN ISOLATION LEVEL READ COMMITTED', undefined, false);
  }

  commit(connection: PostgresConnection): Promise<void> {
    return connection.commit();
  }

  rollback(connection: PostgresConnection): Promise<unknown> {
    return connection.query('ROLLBACK', undefined, false);
  }

  cancel(connection: PostgresConnection): Promise<void> {
    return connection.cancel();
  }

  classify(error: unknown): SqlFailure {
    return classify(error);
  }

  describe(error: unknown): string {
    return describeError(error);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
