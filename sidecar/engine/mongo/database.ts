import { setTimeout as delay } from 'node:timers/promises';
import { type Db, MongoClient, MongoCompatibilityError } from 'mongodb';
import { ApiError } from '../../../db_connector/protocol/errors.ts';
import { type CallBounds, type EngineLog, StaleSchemaError } from '../engine.ts';
import type { ServerSettings } from '../open.ts';
import { TroubleLog } from '../trouble-log.ts';
import { UnusableDatabaseError } from '../unusable-database-error.ts';
import { apiErrorOf, DATABASE_FAILED, DeadlineError, detailOf, failureOf } from './failures.ts';

/** For every call of the driver; its own `timeoutMS` does nothing in version 7.9. */
export interface CallTime {
  /** The server ends the statement after this. */
  readonly maxTimeMS: number;
  /** Frees the caller, and the connection, where the server does not. The driver heeds it in every operation. */
  readonly signal: AbortSignal;
}

export type Statement<T> = (db: Db, time: CallTime) => Promise<T>;

/** What one call of the engine works with. */
export interface MongoSession {
  readonly db: Db;
  /** The time that is left. @throws ApiError `database_timeout` where none is */
  time(): CallTime;
  /**
   * One statement that changes something, sent again as long as it surely did not run: there was no connection, or other
   * writes were in the way (five times). Throws what the driver throws.
   */
  send<T>(statement: Statement<T>): Promise<T>;
  /** One statement that only reads: sent again also where the connection was lost. */
  look<T>(statement: Statement<T>): Promise<T>;
}

/** What counts as proof that a trouble is over. */
export type CallKind = 'read' | 'write';

/** The server's own end of a statement is told by then; later the connection is given up. */
const GRACE_MS = 200;
/** No server by then: an answer is better than waiting on. */
const SERVER_SELECTION_MS = 1500;
const MAX_CONFLICTS = 5;
const RETRY_PAUSE_MS = 30;
const CLOSE_MS = 1000;
/** MongoDB 6.0. */
const OLDEST_WIRE_VERSION = 17;
const TOO_OLD = 'the server is too old: MongoDB 6 or newer is needed';
/** Where the URL has no path (contract section 2). */
const DEFAULT_DATABASE = 'sidecar';

export interface MongoDatabaseOptions {
  readonly log: EngineLog;
  /** Runs once, at the first connection. Throws `UnusableDatabaseError` for a database that must not be used. */
  readonly prepare: (session: MongoSession) => Promise<void>;
}

/**
 * One MongoDB database, below all of the engine. What differs between servers is not used: no transactions, no retried
 * writes of the driver, always the primary.
 */
export class MongoDatabase {
  readonly #client: MongoClient;
  readonly #db: Db;
  readonly #options: MongoDatabaseOptions;
  readonly #troubles: TroubleLog;
  #isPrepared = false;
  #preparing: Promise<void> | null = null;
  #isClosed = false;

  /** @throws Error with a line without the URL, where that cannot be read */
  constructor(settings: ServerSettings, options: MongoDatabaseOptions) {
    this.#client = newClient(settings);
    this.#db = this.#client.db(databaseName(settings.url));
    this.#options = options;
    this.#troubles = new TroubleLog(options.log);
  }

  /**
   * Runs one call of the engine within its bounds. What `work` throws of the driver becomes an `ApiError` of the table,
   * the rest is thrown as it is.
   */
  async run<T>(bounds: CallBounds, kind: CallKind, work: (session: MongoSession) => Promise<T>): Promise<T> {
    const call = new Call(this.#db, bounds);
    try {
      if (!this.#isPrepared) await this.#prepared(bounds);
      const result = await work(call);
      this.#troubles.succeeded(kind === 'write' ? 'write' : 'connection');
      return result;
    } catch (error) {
      throw this.#told(error, call.hasWritten);
    } finally {
      call.end();
    }
  }

  /**
   * Connects and prepares now, and not with the first call. A server that cannot be reached is no error here.
   * @throws UnusableDatabaseError
   */
  async open(bounds: CallBounds): Promise<void> {
    try {
      await this.#prepared(bounds);
    } catch (error) {
      if (error instanceof UnusableDatabaseError) throw error;
      this.#told(error, false);
    }
  }

  /** @throws UnusableDatabaseError */
  async #prepared(bounds: CallBounds): Promise<void> {
    this.#preparing ??= this.#prepare(bounds).finally(() => {
      this.#preparing = null;
    });
    await this.#preparing;
  }

  async #prepare(bounds: CallBounds): Promise<void> {
    const call = new Call(this.#db, bounds);
    try {
      const hello = await call.look((db, time) => db.command({ hello: 1 }, time));
      if (Number(hello.maxWireVersion) < OLDEST_WIRE_VERSION) {
        throw new UnusableDatabaseError(TOO_OLD);
      }
      await this.#options.prepare(call);
      this.#isPrepared = true;
    } catch (error) {
      throw isTooOld(error) ? new UnusableDatabaseError(TOO_OLD) : error;
    } finally {
      call.end();
    }
  }

  #told(error: unknown, wasWriting: boolean): unknown {
    if (error instanceof ApiError || error instanceof StaleSchemaError) return error;
    if (error instanceof UnusableDatabaseError) {
      this.#troubles.report('unusable', 'connection', error.message, error.name);
      return new ApiError('database_error', DATABASE_FAILED);
    }
    if (this.#isClosed) return new ApiError('database_error', 'the sidecar is stopping');
    const failure = failureOf(error);
    if (failure.kind === 'other') {
      const place = error instanceof Error ? (error.stack?.split('\n')[1]?.trim() ?? '') : '';
      this.#troubles.report(
        'unexpected',
        'write',
        'unexpected; if it goes on, report it',
        `${detailOf(error)} ${place}`,
      );
      return new ApiError('database_error', DATABASE_FAILED);
    }
    if ('trouble' in failure) {
      const { name, scope, advice } = failure.trouble;
      this.#troubles.report(name, scope, advice, detailOf(error));
    }
    return apiErrorOf(failure, wasWriting);
  }

  /** Ends what is under way within a second, also with a server that hangs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const timer = new AbortController();
    try {
      await Promise.race([
        this.#client.close(true),
        delay(CLOSE_MS, undefined, { signal: timer.signal, ref: false }).catch(() => {}),
      ]);
    } finally {
      timer.abort();
    }
  }
}

/** The session of one call of the engine. */
class Call implements MongoSession {
  readonly db: Db;
  readonly #deadline: number;
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Something was sent that may have changed something. */
  hasWritten = false;

  constructor(db: Db, { deadline }: CallBounds) {
    this.db = db;
    this.#deadline = deadline;
    const leftMs = Math.max(0, deadline - performance.now()) + GRACE_MS;
    this.#timer = setTimeout(() => this.#abort.abort(new DeadlineError('the time of the call is over')), leftMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  time(): CallTime {
    const leftMs = Math.floor(this.#deadline - performance.now());
    if (leftMs < 1) throw new DeadlineError('the time of the call is over');
    return { maxTimeMS: leftMs, signal: this.#abort.signal };
  }

  look<T>(statement: Statement<T>): Promise<T> {
    return this.#repeat(statement, false);
  }

  async send<T>(statement: Statement<T>): Promise<T> {
    return this.#repeat(async (db, time) => {
      const wrote = this.hasWritten;
      this.hasWritten = true;
      try {
        return await statement(db, time);
      } catch (error) {
        const { kind } = failureOf(error);
        if (kind === 'unreachable' || kind === 'conflict') this.hasWritten = wrote;
        throw error;
      }
    }, true);
  }

  async #repeat<T>(statement: Statement<T>, isWrite: boolean): Promise<T> {
    let conflicts = 0;
    /** Why it has not run so far: what the caller is told where time ends before a server is there. */
    let reason: unknown = null;
    for (;;) {
      try {
        return await statement(this.db, this.time());
      } catch (error) {
        const { kind } = failureOf(error);
        if (kind === 'timeout' && reason !== null) throw reason;
        if (kind === 'conflict') conflicts += 1;
        const isSafe = kind === 'unreachable' || kind === 'conflict' || (kind === 'lost' && !isWrite);
        if (!isSafe || conflicts > MAX_CONFLICTS || !this.#hasTimeToPause()) throw error;
        if (kind !== 'conflict') reason = error;
      }
      await delay(RETRY_PAUSE_MS * (0.5 + Math.random()));
    }
  }

  #hasTimeToPause(): boolean {
    return !this.#abort.signal.aborted && this.#deadline - performance.now() > 2 * RETRY_PAUSE_MS;
  }
}

/** The driver itself knows no server that old. */
function isTooOld(error: unknown): boolean {
  return (
    error instanceof MongoCompatibilityError ||
    (error instanceof Error && error.cause instanceof MongoCompatibilityError)
  );
}

function newClient({ url, poolSize }: ServerSettings): MongoClient {
  try {
    return new MongoClient(url, {
      appName: 'sidecar',
      maxPoolSize: poolSize,
      serverSelectionTimeoutMS: SERVER_SELECTION_MS,
      connectTimeoutMS: SERVER_SELECTION_MS,
      promoteLongs: false,
      retryWrites: false,
      readPreference: 'primary',
      writeConcern: { w: 'majority', journal: true },
      readConcern: { level: 'local' },
    });
  } catch {
    // Its message may quote the URL, in which the password stands.
    throw new Error('database.url: expected mongodb://HOST:PORT/DATABASE or mongodb+srv://HOST/DATABASE');
  }
}

function databaseName(url: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]*)/.exec(url)?.[1] ?? '';
  return path === '' ? DEFAULT_DATABASE : decodeURIComponent(path);
}
