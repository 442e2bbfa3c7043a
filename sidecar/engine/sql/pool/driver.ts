import type { SqlFailure, SqlParam, SqlResult, TakeRow } from '../session.ts';

/**
 * What `PooledSessions` needs of a driver and its pool. `C` is a connection.
 * No method may wait longer than it must: deadlines are kept by the caller, who gives up waiting.
 */
export interface SqlDriver<C> {
  /** Waits for a connection; rejects with the driver's error where none can be made, `null` when the deadline comes first. */
  acquire(deadline: number): Promise<C | null>;
  /** Back into the pool. Never throws. */
  release(connection: C): void;
  /** Out of the pool; its socket is destroyed at once. Never throws. */
  discard(connection: C): void;
  /** False where the connection is known to be gone. */
  isUsable(connection: C): boolean;

  /** `take` comes only where the dialect streams rows. */
  query(
    connection: C,
    text: string,
    params: readonly SqlParam[] | undefined,
    isPrepared: boolean,
    take?: TakeRow,
  ): Promise<SqlResult>;
  begin(connection: C): Promise<unknown>;
  /** Rejects also where the server rolls back instead, without calling it an error. */
  commit(connection: C): Promise<unknown>;
  rollback(connection: C): Promise<unknown>;
  /**
   * Asks the server, through another connection, to end the running statement. Where `endsCancelled`, it resolves after
   * the server has passed it on, and a statement that tells that it was cancelled was so by this request.
   */
  cancel(connection: C): Promise<void>;

  /** A connection goes on after a statement that was cancelled; else it is replaced. */
  readonly endsCancelled?: boolean;

  classify(error: unknown): SqlFailure;
  /** For the owner's log: what the server says, without values and secrets. */
  describe(error: unknown): string;
  /** Ends every connection, also those being made; resolves in any case within a second. */
  close(): Promise<void>;
}
