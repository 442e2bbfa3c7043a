import type { SqlFailure, SqlParam, SqlResult } from './session.ts';

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

  query(connection: C, text: string, params: readonly SqlParam[] | undefined, isPrepared: boolean): Promise<SqlResult>;
  begin(connection: C): Promise<unknown>;
  /** Rejects also where the server rolls back instead, without calling it an error. */
  commit(connection: C): Promise<unknown>;
  rollback(connection: C): Promise<unknown>;
  /** Asks the server, through another connection, to end the running statement. */
  cancel(connection: C): Promise<void>;

  classify(error: unknown): SqlFailure;
  /** For the owner's log: what the server says, without values and secrets. */
  describe(error: unknown): string;
  /** Ends every connection, also those being made; resolves in any case within a second. */
  close(): Promise<void>;
}
