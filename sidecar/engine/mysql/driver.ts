import type { ConnectionOptions } from 'mysql2';
import { ApiError } from '#protocol/errors.ts';
import type { ServerSettings } from '../settings.ts';
import { DeadlineSession } from '../sql/pool/deadline-session.ts';
import type { SqlDriver } from '../sql/pool/driver.ts';
import { type ConnectionMaker, ConnectionPool } from '../sql/pool/pool.ts';
import type { SqlFailure, SqlParam, SqlResult, TakeRow } from '../sql/session.ts';
import { MysqlConnection } from './connection.ts';
import { CONNECT_TIMEOUT_MS, connectionOptions } from './connection-options.ts';
import { inTime, killQuery } from './connection-steps.ts';
import { classify, describe } from './failures.ts';
import type { Flavour } from './schema/types.ts';
import { checkServer, SERVER_FACTS, type ServerFacts, setUpSql } from './session-setup.ts';
import { prepareSystemTables } from './system-tables.ts';

/** The first connection makes the system tables, which may wait for the disk of the server. */
const PREPARE_TIMEOUT_MS = 15_000;
const CANCEL_TIMEOUT_MS = 1000;
const NOTHING = { isKept: false, take: null } as const;

/** mysql2 behind `SqlDriver`, for MySQL and MariaDB. */
export class MysqlDriver implements SqlDriver<MysqlConnection>, ConnectionMaker<MysqlConnection> {
  /** A killed statement tells of it, and nothing of the kill stays in its session. */
  readonly endsCancelled = true;
  readonly #options: ConnectionOptions;
  readonly #setUp: string;
  readonly #pool: ConnectionPool<MysqlConnection>;
  /** All that are open or being made. */
  readonly #connections = new Set<MysqlConnection>();
  #facts: ServerFacts | null = null;

  /** @throws Error with one clear line for a URL that says too little */
  constructor({ url, poolSize, statementTimeoutMs }: ServerSettings) {
    this.#options = connectionOptions(url);
    this.#setUp = setUpSql(Math.ceil(statementTimeoutMs / 1000) + 1);
    this.#pool = new ConnectionPool<MysqlConnection>(this, poolSize);
  }

  /** Null before the first connection. */
  get flavour(): Flavour | null {
    return this.#facts?.flavour ?? null;
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
    if (params !== undefined && this.#facts !== null && !isSendable(text, params, this.#facts)) return refuseLong();
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
      if (this.#facts === null) await inTime(connection, PREPARE_TIMEOUT_MS, this.#prepare(connection));
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
    const facts = checkServer(rows);
    const session = new DeadlineSession(this, connection, performance.now() + PREPARE_TIMEOUT_MS);
    try {
      await prepareSystemTables(session, facts.flavour);
    } finally {
      session.end();
    }
    this.#facts = facts;
  }
}

/** Of each parameter, besides its value. */
const PARAM_BYTES = 16;
const MAX_UTF8_BYTES = 3;

function isSendable(text: string, params: readonly SqlParam[], { maxPacketBytes }: ServerFacts): boolean {
  const bytesOf = (measure: (text: string) => number): number =>
    params.reduce<number>((sum, param) => {
      if (typeof param === 'string') return sum + PARAM_BYTES + measure(param);
      return sum + PARAM_BYTES + (param instanceof Uint8Array ? param.byteLength : 0);
    }, text.length);
  // Nearly always this is enough, and costs nothing.
  if (bytesOf((value) => value.length * MAX_UTF8_BYTES) <= maxPacketBytes) return true;
  return bytesOf((value) => Buffer.byteLength(value)) <= maxPacketBytes;
}

function refuseLong(): Promise<never> {
  const message = 'a row, or what is to be changed, is longer than the server takes at once (max_allowed_packet)';
  return Promise.reject(new ApiError('value_too_long', message));
}
