import type { SqlParam, SqlResult, TakeRow } from '../session.ts';
import type { SqlDriver } from './driver.ts';

/**
 * One connection in one transaction that only reads, begun when the driver is used first: whatever is read through it is
 * the database at that moment. With the connection the view is gone, and every call fails from then on.
 */
export class SnapshotDriver<C> implements SqlDriver<C> {
  readonly endsCancelled = false;
  readonly #driver: SqlDriver<C>;
  readonly #begin: readonly string[];
  #connection: C | null = null;
  #isLost = false;
  /** Who uses the connection, or waits for it. */
  #turn: Promise<void> = Promise.resolve();
  #next: () => void = () => {};

  /** `begin`: the statements that begin the transaction. `driver` has a pool of one. */
  constructor(driver: SqlDriver<C>, begin: readonly string[]) {
    this.#driver = driver;
    this.#begin = begin;
  }

  async acquire(deadline: number): Promise<C | null> {
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

  async #opened(deadline: number): Promise<C | null> {
    const connection = await this.#driver.acquire(deadline);
    if (connection === null) return null;
    try {
      for (const statement of this.#begin) await this.#driver.query(connection, statement, undefined, false);
    } catch (error) {
      this.#driver.discard(connection);
      throw error;
    }
    this.#connection = connection;
    return connection;
  }

  release(): void {
    this.#next();
  }

  discard(connection: C): void {
    this.#isLost = true;
    this.#connection = null;
    this.#driver.discard(connection);
    this.#next();
  }

  isUsable(connection: C): boolean {
    return this.#driver.isUsable(connection);
  }

  /** Never kept prepared: each text comes for a few pages only. */
  query(
    connection: C,
    text: string,
    params: readonly SqlParam[] | undefined,
    _isPrepared: boolean,
    take?: TakeRow,
  ): Promise<SqlResult> {
    return this.#driver.query(connection, text, params, false, take);
  }

  begin(): Promise<unknown> {
    return this.#refuse();
  }

  commit(): Promise<unknown> {
    return this.#refuse();
  }

  rollback(): Promise<unknown> {
    return this.#refuse();
  }

  cancel(connection: C): Promise<void> {
    return this.#driver.cancel(connection);
  }

  classify(error: unknown) {
    return this.#driver.classify(error);
  }

  describe(error: unknown): string {
    return this.#driver.describe(error);
  }

  async close(): Promise<void> {
    if (this.#connection !== null) this.#driver.discard(this.#connection);
    await this.#driver.close();
  }

  #refuse(): Promise<never> {
    return Promise.reject(new Error('what is read for a backup is not changed'));
  }
}
