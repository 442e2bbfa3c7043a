import type { CallBounds } from '../rows.ts';

/**
 * A parameter as it travels to a server. A bigint travels as its digits; a Uint8Array as bytes. Nothing is converted
 * by the driver: dialects give times, decimals and JSON as text.
 */
export type SqlParam = null | boolean | number | bigint | string | Uint8Array;

export interface SqlResult {
  /**
   * Arrays of columns in the order of the select list. From PostgreSQL, every value is text as the server writes it, or
   * null; from MySQL, values are as `mysql/connection.ts` sets the driver up.
   */
  readonly rows: readonly (readonly unknown[])[];
  /** Rows that a write matched (also rows that it did not change), else the number of rows returned. */
  readonly affected: number;
  /** MySQL: the first id that the statement generated, else null. */
  readonly insertId: bigint | null;
  /** MySQL: distance between ids that one statement generates (`auto_increment_increment` of the session). */
  readonly idStep?: bigint;
}

/** Takes a row as it arrives; false if no more rows are wanted. */
export type TakeRow = (row: readonly unknown[]) => boolean;

/**
 * A connection for the time of one piece of work. Its statements run one after another; never keep it.
 *
 * A statement rejects with the driver's own error (`code` is the SQLSTATE of PostgreSQL, `errno` of MySQL), so that work
 * may catch errors it expects. `Sessions` classifies every error that leaves the work: the caller gets an `ApiError` or
 * `StaleSchemaError`. Work may throw these itself to say more than the driver knows.
 */
export interface Session {
  /** `performance.now()` milliseconds; statements are cancelled then. Already past: rejects before anything is sent. */
  readonly deadline: number;
  /** Sent once: for schema statements and other rare ones. Without `params` PostgreSQL takes several statements. */
  query(text: string, params?: readonly SqlParam[]): Promise<SqlResult>;
  /** The same, kept prepared on the connection: for texts that are repeated. */
  prepared(text: string, params: readonly SqlParam[]): Promise<SqlResult>;
  /**
   * The same with its rows one by one, so that they are never in memory together. Rejects with the error that `take`
   * throws. Only for dialects with `streamsRows`.
   */
  stream(text: string, params: readonly SqlParam[], take: TakeRow): Promise<void>;
}

export interface SqlBounds extends CallBounds {
  /** Missing tables and columns mean that this namespace's schema has changed; without it they are `database_error`. */
  readonly namespace?: string;
}

/**
 * The connections of an engine (contract section 5). Each call waits for a connection, runs the work and releases it, all
 * by the deadline: statements are cancelled at the server then, and a connection whose state is unknown is discarded.
 *
 * | What happens | `read` | `write` | `transaction` |
 * |---|---|---|---|
 * | no connection in time | database_timeout | database_timeout | database_timeout |
 * | server cannot be reached, or refuses | database_error | database_error | database_error |
 * | lost before a statement was sent | again | again | again |
 * | lost later | again | 504, outcome unknown | again; at COMMIT 504, outcome unknown |
 * | refused by a server that takes no writes | as `failed`; with several hosts again, at the next one | same | same; at COMMIT as lost |
 * | deadlock, serialization failure | again until the deadline, then conflict_retry | same | same |
 * | deadline | database_timeout | database_timeout; 504, outcome unknown if the end is not confirmed | same, at COMMIT |
 *
 * "Again" runs the whole work again, on a new connection if the old one is lost, so work must not keep anything of a
 * failed run.
 */
export interface Sessions {
  /** Changes nothing. Each statement is a transaction of its own. */
  read<T>(bounds: SqlBounds, work: (session: Session) => Promise<T>): Promise<T>;
  /** At most one statement that changes something, committed by itself; reads may stand before and after it. */
  write<T>(bounds: SqlBounds, work: (session: Session) => Promise<T>): Promise<T>;
  /** READ COMMITTED; committed when the work resolves, rolled back when it rejects. Never sends BEGIN or COMMIT itself. */
  transaction<T>(bounds: SqlBounds, work: (session: Session) => Promise<T>): Promise<T>;
}

/** The connections of a server that may take a whole transaction as one statement. */
export interface ServerSessions extends Sessions {
  /**
   * Runs one statement that begins its transaction, keeps a record that makes a second run of it do nothing, and commits: as a
   * transaction before its COMMIT, but 504, outcome unknown, if it is ended at the deadline.
   */
  compound<T>(bounds: SqlBounds, work: (session: Session) => Promise<T>): Promise<T>;
}

/** `trouble` of a failure for which the disk of the server has no room. */
export const FULL_DISK = 'disk';

/** The meaning of a driver's error; each driver has a `classify`. */
export type SqlFailure =
  /** The statement was refused and changed nothing; the caller may see the message. */
  | {
      readonly kind: 'refused';
      readonly code: 'constraint_violation' | 'invalid_value' | 'value_too_long';
      readonly message: string;
    }
  /** A table or column is missing. */
  | { readonly kind: 'undefined' }
  /** Deadlock, serialization failure, a lock not had in time: undone, worth another attempt. */
  | { readonly kind: 'conflict' }
  /** The statement did not run for a reason of this connection alone (a prepared statement that is gone). */
  | { readonly kind: 'unprepared' }
  /** Ended by a cancel or a time limit of the server, and undone. */
  | { readonly kind: 'cancelled' }
  /** The connection is gone, with or without a last word of the server. */
  | { readonly kind: 'lost' }
  /**
   * The server cannot do it. `trouble` names the kind for the log, `advice` tells the owner what to do. If no connection
   * can be made for a reason that is `isPassing`, the attempt is repeated for a moment. `isOfServer`: this server did not do it
   * and changed nothing, but another host of the URL may do it.
   */
  | {
      readonly kind: 'failed';
      readonly trouble: string;
      readonly advice: string;
      readonly isPassing?: boolean;
      readonly isOfServer?: boolean;
    };

/** A statement of the sidecar itself found less than it made. */
export const PART_MISSING: SqlFailure & { readonly kind: 'failed' } = {
  kind: 'failed',
  trouble: 'undefined',
  advice: 'a table or column of the sidecar is missing: was something dropped or renamed by hand?',
};
