import type { HostInUse } from '#engine/engine.ts';
import type { Session, SqlFailure, SqlParam, SqlResult, TakeRow } from '../session.ts';
import type { Standing } from './host-choice.ts';

/** A connection to a server. No method waits longer than it must: the caller keeps the deadline and stops waiting. */
export interface SqlConnection {
  /** Connects and sets the session up, within seconds. Rejects with the driver's error. */
  connect(): Promise<void>;
  /** False if the connection is known to be gone. */
  readonly isUsable: boolean;
  /** Holds more than a connection should: replaced when it is released. */
  readonly isWornOut: boolean;

  /** `take` only if the dialect streams rows. */
  query(
    text: string,
    params?: readonly SqlParam[],
    options?: { readonly isPrepared?: boolean; readonly take?: TakeRow },
  ): Promise<SqlResult>;
  begin(): Promise<unknown>;
  /** Rejects also if the server rolls back instead, without calling it an error. */
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /**
   * Asks the server, through another connection, to end the running statement. Resolves after the server has passed the
   * request on: a statement that then reports a cancel was cancelled by this request.
   */
  cancel(): Promise<void>;

  /** Closes in good order; the caller bounds the wait. */
  end(): Promise<void>;
  /** Closes the socket at once. Never throws. */
  destroy(): void;
}

/** Meaning of a driver's errors. */
export interface SqlFailures {
  classify(error: unknown): SqlFailure;
  /** For the owner's log: the words of the server, without values and secrets. */
  describe(error: unknown): string;
}

/** A driver of servers, below `ConnectionPool`. */
export interface SqlDriver extends SqlFailures {
  /** Hosts of the URL in the order of preference, for the log: without account and password. */
  readonly hosts: readonly string[];
  /** A server that was replaced by another one can be told from it (`Standing.epoch`). */
  readonly hasEpochs: boolean;
  /** `host`: index in `hosts`. */
  newConnection(host: number): SqlConnection;
  /** State of the server behind a connection. */
  standing(query: (text: string) => Promise<SqlResult>): Promise<Standing>;
  /** Whether each write of a primary waits for a standby that is away. Left out: the server does not wait for others. */
  lacksStandby?(query: (text: string) => Promise<SqlResult>): Promise<boolean>;
  /** Prepares the database on the first connection to it; several connections may do so at once. */
  prepare(session: Session): Promise<void>;
  /**
   * After a lost connection the database is prepared again: another database may answer at the same address. Without the
   * flag, the first successful preparation holds until the process ends.
   */
  readonly preparesAfterLoss: boolean;
}

/** Lends connections to `PooledSessions`. */
export interface ConnectionSource extends SqlFailures {
  /** A connection that need not be waited for; null if there is none. */
  take(): SqlConnection | null;
  /** Rejects with the driver's error if no connection can be made; null if the deadline comes first. */
  acquire(deadline: number): Promise<SqlConnection | null>;
  /** A server answers, and the system tables are being made there. */
  readonly isPreparing: boolean;
  /** Never throws. */
  release(connection: SqlConnection): void;
  /** Closes the connection at once. Never throws. */
  discard(connection: SqlConnection): void;
  /** The server of the connection refused work that another host may take. False if the URL names no other host. */
  leaveHost(connection: SqlConnection): boolean;
  hostInUse(): HostInUse;
  /** Ends every connection, also those being made; resolves in any case within a second. */
  close(): Promise<void>;
  /**
   * A single transaction that only reads: no other transaction begins, a cancelled statement ends it, and no statement is kept
   * prepared, since each text comes for a few pages only.
   */
  readonly isSnapshot: boolean;
}
