import { setTimeout as wait } from 'node:timers/promises';
import { DiskFullError } from '#engine/disk-full.ts';
import type { EngineStats, HostInUse } from '#engine/engine.ts';
import { DETAILS_IN_LOG } from '#engine/log.ts';
import { type TroubleLog, UnusableDatabaseError } from '#engine/model/failures.ts';
import { Places } from '#engine/model/places.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { writeConflict } from '../change.ts';
import { FULL_DISK, PART_MISSING, type ServerSessions, type SqlBounds, type SqlFailure } from '../session.ts';
import {
  AttemptError,
  inAutocommit,
  inTransaction,
  isConnectionAtFault,
  isTimeout,
  jitterMs,
  type Kind,
  rolledBack,
  type Work,
} from './attempt.ts';
import { AbandonedError, DeadlineSession, UnconfirmedError, UnsentError } from './deadline-session.ts';
import type { ConnectionSource, SqlConnection } from './driver.ts';
import { NO_REPLICA, NOT_IN_TIME, scopeOf } from './owner-words.ts';

/** A pool may hold several connections that are gone and not yet known to be. */
const MAX_RECONNECTS = 5;
/** How long a start waits for the server before it goes on without; and for one that answers while it makes the system tables. */
const FIRST_LOOK_MS = 5000;
const FIRST_TABLES_MS = 20_000;
const NO_ANSWER = Object.assign(new Error('the server does not answer'), { code: 'ETIMEDOUT' });

type Verdict = 'conflict' | 'reconnect' | Error;

/** See `Sessions` and `ServerSessions`. */
export class PooledSessions implements ServerSessions {
  readonly #source: ConnectionSource;
  readonly #troubles: TroubleLog;
  #underWay = 0;
  /** Resolves after `close`, when no call is under way. */
  readonly #idle = Promise.withResolvers<void>();
  readonly #counts = {
    waitingReads: 0,
    runningReads: 0,
    waitingWrites: 0,
    commits: 0,
    committedWrites: 0,
    timeouts: 0,
    spotReads: 0,
  };
  readonly #places: Places;
  #isClosed = false;

  /** `count`: connections of the source. */
  constructor(source: ConnectionSource, count: number, troubles: TroubleLog) {
    this.#source = source;
    this.#places = new Places(count);
    this.#troubles = troubles;
  }

  read<T>(bounds: SqlBounds, work: Work<T>): Promise<T> {
    return this.#attempts('read', bounds, work);
  }

  write<T>(bounds: SqlBounds, work: Work<T>): Promise<T> {
    return this.#attempts('write', bounds, work);
  }

  compound<T>(bounds: SqlBounds, work: Work<T>): Promise<T> {
    return this.#attempts('compound', bounds, work);
  }

  transaction<T>(bounds: SqlBounds, work: Work<T>): Promise<T> {
    return this.#attempts('transaction', bounds, work);
  }

  hostInUse(): HostInUse {
    return this.#source.hostInUse();
  }

  stats(): EngineStats {
    return { ...this.#counts };
  }

  /** Accepted calls are answered first; each ends by its own deadline. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#underWay === 0) this.#idle.resolve();
    await this.#idle.promise;
    await this.#source.close();
  }

  async #attempts<T>(kind: Kind, bounds: SqlBounds, work: Work<T>): Promise<T> {
    this.#underWay += 1;
    try {
      for (let conflicts = 0, reconnects = 0; ; ) {
        try {
          const result = await this.#attempt(kind, bounds, work);
          this.#troubles.succeeded(kind === 'read' ? 'connection' : 'write');
          return result;
        } catch (error) {
          if (!(error instanceof AttemptError)) throw conflicts > 0 && isTimeout(error) ? writeConflict() : error;
          const verdict = this.#judge(kind, bounds, error);
          // Conflicting transactions must not retry at the same moment again, and a fail-over takes its time.
          const pauseMs = verdict === 'conflict' || error.hasNextHost ? jitterMs(conflicts + reconnects) : 0;
          const isInTime = performance.now() + pauseMs < bounds.deadline;
          if (verdict === 'conflict' && isInTime) conflicts += 1;
          else if (verdict === 'reconnect' && isInTime && reconnects < MAX_RECONNECTS) reconnects += 1;
          else throw this.#outcome(verdict, error);
          if (pauseMs > 0) await wait(pauseMs);
        }
      }
    } finally {
      this.#underWay -= 1;
      if (this.#isClosed && this.#underWay === 0) this.#idle.resolve();
    }
  }

  /** @throws AttemptError with what went wrong as its cause */
  #attempt<T>(kind: Kind, bounds: SqlBounds, work: Work<T>): Promise<T> {
    const waiting = kind === 'read' ? 'waitingReads' : 'waitingWrites';
    const begin = (): Promise<T> => {
      this.#counts[waiting] -= 1;
      return this.#inPlace(kind, bounds.deadline, work);
    };
    const late = (): ApiError => {
      this.#counts[waiting] -= 1;
      return this.#busy();
    };
    this.#counts[waiting] += 1;
    return this.#places.run(bounds, begin, late);
  }

  async #inPlace<T>(kind: Kind, deadline: number, work: Work<T>): Promise<T> {
    if (this.#isClosed) throw new ApiError('database_error', 'the database is being closed');
    const isInTime = performance.now() < deadline;
    const connection = (isInTime ? this.#source.take() : null) ?? (await this.#acquire(kind, deadline));
    const session = new DeadlineSession(this.#source, connection, deadline);
    let isClean = false;
    const running = kind === 'read' ? 'runningReads' : null;
    if (running !== null) this.#counts[running] += 1;
    try {
      const result = kind === 'transaction' ? await inTransaction(session, work) : await inAutocommit(session, work);
      isClean = true;
      if (kind !== 'read') {
        this.#counts.commits += 1;
        this.#counts.committedWrites += 1;
      }
      return result;
    } catch (error) {
      const isAtFault = isConnectionAtFault(error, this.#source) || this.#leavesHost(error, connection);
      const isOneStatement = kind === 'read' || kind === 'write';
      isClean = !isAtFault && (isOneStatement || (await rolledBack(session)));
      throw error;
    } finally {
      if (running !== null) this.#counts[running] -= 1;
      session.end();
      if (!isClean || !session.isReusable) this.#source.discard(connection);
      else if (session.cancelled === null) this.#source.release(connection);
      else session.cancelled.then(() => this.#source.release(connection));
    }
  }

  /** Whether the work belongs to another host of the URL: this one refused it, or hangs. */
  #leavesHost(error: unknown, connection: SqlConnection): boolean {
    if (!(error instanceof AttemptError) || error.cause instanceof ApiError) return false;
    if (error.cause instanceof AbandonedError) return this.#source.leaveHost(connection);
    const failure = this.#source.classify(error.cause);
    if (failure.kind !== 'failed' || failure.isOfServer !== true) return false;
    const isLeft = this.#source.leaveHost(connection);
    error.hasNextHost = isLeft && error.stage !== 'committing';
    return isLeft;
  }

  async #acquire(kind: Kind, deadline: number): Promise<SqlConnection> {
    const waiting = kind === 'read' ? 'waitingReads' : 'waitingWrites';
    this.#counts[waiting] += 1;
    try {
      const connection = await this.#connection(deadline);
      if (connection !== null) return connection;
    } catch (error) {
      throw this.#unreachable(error);
    } finally {
      this.#counts[waiting] -= 1;
    }
    throw this.#busy();
  }

  #busy(): ApiError {
    this.#counts.timeouts += 1;
    return new ApiError('database_timeout', 'the database was busy until the time was over; nothing was done');
  }

  /**
   * Null if the deadline comes first. A server that restarts may be back in a moment, and nothing was sent yet; sidecars that
   * start at once may be in each other's way at the system tables.
   */
  async #connection(deadline: number): Promise<SqlConnection | null> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#source.acquire(deadline);
      } catch (error) {
        const failure = this.#source.classify(error);
        const isBusy = failure.kind === 'lost' || failure.kind === 'conflict';
        const isPassing = isBusy || (failure.kind === 'failed' && failure.isPassing === true);
        if (!isPassing || attempt > MAX_RECONNECTS) throw error;
        await wait(jitterMs(attempt - 1));
      }
    }
  }

  /**
   * At the start: tells the owner if the server cannot be reached, or hangs. Calls retry by themselves.
   * @throws UnusableDatabaseError for a database that must not be used
   */
  async lookFirst(): Promise<void> {
    try {
      const connection =
        (await this.#connection(performance.now() + FIRST_LOOK_MS)) ?? (await this.#connectionWithTables());
      if (connection === null) throw NO_ANSWER;
      this.#source.release(connection);
    } catch (error) {
      if (error instanceof UnusableDatabaseError) throw error;
      this.#unreachable(error);
    }
  }

  /** A busy server may need longer for its system tables than it may take to answer. Null if it does not answer. */
  async #connectionWithTables(): Promise<SqlConnection | null> {
    return this.#source.isPreparing ? this.#connection(performance.now() + FIRST_TABLES_MS) : null;
  }

  #unreachable(error: unknown): ApiError {
    const failure = this.#source.classify(error);
    if (error instanceof UnusableDatabaseError) this.#troubles.report('unusable', 'connection', error.message, '');
    else if (failure.kind === 'failed') {
      this.#troubles.report(failure.trouble, scopeOf('read', failure), failure.advice, this.#source.describe(error));
    } else {
      this.#troubles.report('unreachable', 'connection', NOT_IN_TIME, this.#source.describe(error));
    }
    return new ApiError('database_error', `the database cannot be reached${DETAILS_IN_LOG}`);
  }

  /** The consequence of a failed attempt: another attempt, or the error for the caller. */
  #judge(kind: Kind, { namespace }: SqlBounds, { stage, cause, hasNextHost }: AttemptError): Verdict {
    if (hasNextHost) return 'reconnect';
    if (cause instanceof ApiError || cause instanceof StaleSchemaError) return cause;
    if (cause instanceof UnsentError) return 'reconnect';
    if (cause instanceof UnconfirmedError) {
      this.#troubles.report('unconfirmed', 'write', NO_REPLICA, cause.message);
      return this.#timeout(true);
    }
    const isUnknown = stage === 'committing' || (kind === 'write' && stage === 'sent');
    if (cause instanceof AbandonedError) return this.#timeout(isUnknown || kind === 'compound');
    const failure = this.#source.classify(cause);
    switch (failure.kind) {
      case 'refused':
        return new ApiError(failure.code, failure.message);
      case 'undefined':
        return namespace === undefined ? this.#failed(kind, cause, PART_MISSING) : new StaleSchemaError(namespace);
      case 'conflict':
        return 'conflict';
      case 'unprepared':
        return 'reconnect';
      case 'cancelled':
        return this.#timeout(kind === 'compound');
      case 'lost':
        return isUnknown ? this.#timeout(true) : 'reconnect';
      case 'failed':
        // A node that lost its cluster in the middle of a commit does not know whether the others have it.
        if (stage === 'committing' && failure.isOfServer === true) return this.#timeout(true);
        return this.#failed(kind, cause, failure);
      default:
        return failure satisfies never;
    }
  }

  #timeout(isUnknown: boolean): ApiError {
    this.#counts.timeouts += 1;
    const message = isUnknown
      ? 'the connection to the database was lost or did not answer; the outcome is unknown'
      : 'the statement took too long and was ended; it changed nothing';
    return new ApiError('database_timeout', message);
  }

  #failed(kind: Kind, cause: unknown, failure: SqlFailure & { kind: 'failed' }): ApiError {
    const { trouble, advice } = failure;
    this.#troubles.report(trouble, scopeOf(kind, failure), advice, this.#source.describe(cause));
    if (trouble === FULL_DISK) return new DiskFullError(null);
    return new ApiError('database_error', `the database failed${DETAILS_IN_LOG}`);
  }

  #outcome(verdict: Verdict, { cause }: AttemptError): Error {
    if (verdict === 'conflict') return writeConflict();
    return verdict === 'reconnect' ? this.#unreachable(cause) : verdict;
  }
}
