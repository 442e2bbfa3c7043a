import type { HostInUse } from '#engine/engine.ts';
import type { SqlFailure } from '../session.ts';
import type { ConnectionSource, SqlConnection } from './driver.ts';

/**
 * A connection in a transaction that only reads, begun when it is acquired first: reads see the database as it is at that
 * moment. If the connection is lost, the view is lost, and every later call fails.
 */
export class SnapshotSource implements ConnectionSource {
  readonly isSnapshot = true;
  /** The engine that is backed up has made the tables. */
  readonly isPreparing = false;
  readonly #pool: ConnectionSource;
  readonly #begin: readonly string[];
  #connection: SqlConnection | null = null;
  #isLost = false;
  /** End of the last call that uses the connection or waits for it. */
  #turn: Promise<void> = Promise.resolve();
  #next: () => void = () => {};

  /** `begin`: the statements that begin the transaction. `pool` has one connection. */
  constructor(pool: ConnectionSource, begin: readonly string[]) {
    this.#pool = pool;
    this.#begin = begin;
  }

  /** Each call waits for its turn. */
  take(): null {
    return null;
  }

  async acquire(deadline: number): Promise<SqlConnection | null> {
    const before = this.#turn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    await before;
    this.#next = resolve;
    try {
      const connection = this.#isLost ? null : (this.#connection ?? (await this.#opened(deadline)));
      if (connection === null) throw new Error('the view of the database at the moment of the backup is lost');
      return connection;
    } catch (error) {
      this.#isLost = true;
      resolve();
      throw error;
    }
  }

  async #opened(deadline: number): Promise<SqlConnection | null> {
    const connection = await this.#pool.acquire(deadline);
    if (connection === null) return null;
    try {
      for (const statement of this.#begin) await connection.query(statement);
    } catch (error) {
      this.#pool.discard(connection);
      throw error;
    }
    this.#connection = connection;
    return connection;
  }

  release(): void {
    this.#next();
  }

  discard(connection: SqlConnection): void {
    this.#isLost = true;
    this.#connection = null;
    this.#pool.discard(connection);
    this.#next();
  }

  /** The view exists on one server only. */
  leaveHost(): boolean {
    return false;
  }

  hostInUse(): HostInUse {
    return this.#pool.hostInUse();
  }

  classify(error: unknown): SqlFailure {
    return this.#pool.classify(error);
  }

  describe(error: unknown): string {
    return this.#pool.describe(error);
  }

  async close(): Promise<void> {
    if (this.#connection !== null) this.#pool.discard(this.#connection);
    await this.#pool.close();
  }
}
