import { type Db, type DbOptions, MongoClient, MongoCompatibilityError, ReadConcern } from 'mongodb';
import { ApiError } from '#protocol/errors.ts';
import { orLate } from '#sidecar/deadline.ts';
import type { HostInUse } from '../engine.ts';
import type { EngineLog } from '../log.ts';
import { TroubleLog, UnusableDatabaseError } from '../model/failures.ts';
import { type CallBounds, StaleSchemaError } from '../rows.ts';
import type { ServerSettings } from '../settings.ts';
import { apiErrorOf, DATABASE_FAILED, detailOf, failureOf } from './failures.ts';
import { Call, type MongoSession, within } from './session.ts';

/** Kind of call that proves that a trouble is over. */
export type CallKind = 'read' | 'write';

/**
 * Limit for finding a server, within the time of a statement, so that the caller receives this failure and does not
 * wait on.
 */
const MAX_SELECTION_MS = 1000;
const CLOSE_MS = 1000;
const PREPARE_MS = 20_000;
/** MongoDB 6.0. */
const OLDEST_WIRE_VERSION = 17;
const TOO_OLD = 'the server is too old: MongoDB 6 or newer is needed';
/** Database if the URL has no path (contract section 2). */
const DEFAULT_DATABASE = 'sidecar';

/**
 * An acknowledged write must never be lost. Options of the database and not of the client, where options of the URL
 * (`journal`, `wtimeoutMS`, `readPreferenceTags`) would mix in.
 */
const CONCERNS: DbOptions = {
  readPreference: 'primary',
  writeConcern: { w: 'majority', journal: true },
  readConcern: new ReadConcern('local'),
};

export interface MongoDatabaseOptions {
  readonly log: EngineLog;
  /** Runs once, at the first connection. @throws UnusableDatabaseError for a database that must not be used */
  readonly prepare: (session: MongoSession) => Promise<void>;
}

/**
 * A MongoDB database below the engine. It uses nothing that differs between servers: no transactions, no retried writes
 * of the driver, always the primary.
 */
export class MongoDatabase {
  readonly #settings: ServerSettings;
  #client: MongoClient;
  #db: Db;
  #heartbeats: HeartbeatWatch;
  readonly #usedHost = new UsedHost();
  readonly #options: MongoDatabaseOptions;
  readonly #troubles: TroubleLog;
  #connectionsTaken = 0;
  readonly #taken = (): number => this.#connectionsTaken;
  #isPrepared = false;
  #preparing: Promise<void> | null = null;
  #isClosed = false;

  /** @throws Error with a line without the URL, if the URL cannot be read */
  constructor(settings: ServerSettings, options: MongoDatabaseOptions) {
    this.#settings = settings;
    [this.#client, this.#db, this.#heartbeats] = this.#newClient();
    this.#options = options;
    this.#troubles = new TroubleLog(options.log);
  }

  /**
   * Runs one call of the engine within its bounds. An error of the driver becomes an `ApiError` of the table; other
   * errors are thrown as they are.
   */
  async run<T>(bounds: CallBounds, kind: CallKind, work: (session: MongoSession) => Promise<T>): Promise<T> {
    if (this.#heartbeats.isStuck && !this.#isClosed) this.#replaceClient();
    const call = new Call(this.#db, bounds, this.#taken);
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

  get hostInUse(): HostInUse | null {
    return this.#usedHost.inUse;
  }

  #newClient(): [MongoClient, Db, HeartbeatWatch] {
    const client = newClient(this.#settings);
    const heartbeats = new HeartbeatWatch(selectionMsOf(this.#settings));
    heartbeats.follow(client);
    this.#usedHost.follow(client);
    client.on('connectionCheckedOut', () => {
      this.#connectionsTaken += 1;
    });
    return [client, client.db(databaseName(this.#settings.url), CONCERNS), heartbeats];
  }

  /** A running call ends with the client that it began with. */
  #replaceClient(): void {
    this.#options.log('warn', "the driver's look at the server hangs: the sidecar connects anew", {});
    // The old client may hang as well; do not wait for it.
    this.#client.close(true).catch(() => {});
    [this.#client, this.#db, this.#heartbeats] = this.#newClient();
    // A new client must greet the server first.
    this.#isPrepared = false;
  }

  /**
   * Connects and prepares now, not at the first call. A server that cannot be reached is no error here.
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
    await this.#greet(bounds);
    // Preparing may take longer than a call; then a later call finds it done.
    this.#preparing ??= this.#prepare().finally(() => {
      this.#preparing = null;
    });
    await within(this.#preparing, bounds);
  }

  async #greet(bounds: CallBounds): Promise<void> {
    const call = new Call(this.#db, bounds, this.#taken);
    try {
      // Explicitly, because the driver makes no second attempt after a first connection that failed.
      const connecting = this.#client.connect().then(() => {});
      await within(connecting, bounds);
      const hello = await call.look((db, time) => db.command({ hello: 1 }, time));
      if (Number(hello.maxWireVersion) < OLDEST_WIRE_VERSION) throw new UnusableDatabaseError(TOO_OLD);
    } catch (error) {
      throw isTooOld(error) ? new UnusableDatabaseError(TOO_OLD) : error;
    } finally {
      call.end();
    }
  }

  async #prepare(): Promise<void> {
    const call = new Call(this.#db, { deadline: performance.now() + PREPARE_MS }, this.#taken);
    try {
      await this.#options.prepare(call);
      this.#isPrepared = true;
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

  /** Ends running calls within a second, also with a server that hangs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await orLate(this.#client.close(true), CLOSE_MS, undefined);
  }
}

/** The driver refuses servers that are too old. */
function isTooOld(error: unknown): boolean {
  return (
    error instanceof MongoCompatibilityError ||
    (error instanceof Error && error.cause instanceof MongoCompatibilityError)
  );
}

function newClient({ url, poolSize, statementTimeoutMs }: ServerSettings): MongoClient {
  const selectionMs = selectionMsOf({ statementTimeoutMs });
  try {
    return new MongoClient(url, {
      appName: 'sidecar',
      maxPoolSize: poolSize,
      serverSelectionTimeoutMS: selectionMs,
      connectTimeoutMS: selectionMs,
      promoteLongs: false,
      retryWrites: false,
    });
  } catch {
    // The message may quote the URL, which holds the password.
    throw new Error('database.url: expected mongodb://HOST:PORT/DATABASE or mongodb+srv://HOST/DATABASE');
  }
}

function selectionMsOf({ statementTimeoutMs }: Pick<ServerSettings, 'statementTimeoutMs'>): number {
  return Math.min(MAX_SELECTION_MS, Math.ceil(statementTimeoutMs / 3));
}

function databaseName(url: string): string {
  const path = /^mongodb(?:\+srv)?:\/\/[^/]*\/([^?]*)/.exec(url)?.[1] ?? '';
  return path === '' ? DEFAULT_DATABASE : decodeURIComponent(path);
}

/** Limit of the driver for a heartbeat that the server may hold back (`heartbeatFrequencyMS`). */
const AWAITED_MS = 10_000;
const SLACK_MS = 2000;

interface Heartbeat {
  /** `performance.now()` milliseconds. */
  readonly startedMs: number;
  /** The server answers when it has news, not at once. */
  readonly isAwaited: boolean;
}

/**
 * Watch for a heartbeat of the driver that never ends. If the server closes several connections at one moment, version
 * 7.9 sends a heartbeat over a closed socket and waits for it without a limit. After that it never looks at the server
 * again, and every call fails although the server is back.
 */
export class HeartbeatWatch {
  readonly #limitMs: number;
  readonly #pending = new Map<string, Heartbeat>();

  /** @param connectTimeoutMs the driver's limit, which ends a normal heartbeat */
  constructor(connectTimeoutMs: number) {
    this.#limitMs = 2 * connectTimeoutMs + SLACK_MS;
  }

  follow(client: Pick<MongoClient, 'on'>): void {
    client.on('serverHeartbeatStarted', ({ connectionId, awaited }) => {
      this.#pending.set(connectionId, { startedMs: performance.now(), isAwaited: awaited });
    });
    client.on('serverHeartbeatSucceeded', ({ connectionId }) => this.#pending.delete(connectionId));
    client.on('serverHeartbeatFailed', ({ connectionId }) => this.#pending.delete(connectionId));
    client.on('serverClosed', ({ address }) => this.#pending.delete(address));
  }

  get isStuck(): boolean {
    const now = performance.now();
    for (const { startedMs, isAwaited } of this.#pending.values()) {
      if (now - startedMs > this.#limitMs + (isAwaited ? AWAITED_MS : 0)) return true;
    }
    return false;
  }
}

/** Host that the driver has chosen for the last call: the primary, or one of several routers. */
class UsedHost {
  #host: string | null = null;
  #hasOthers = false;

  follow(client: Pick<MongoClient, 'on'>): void {
    client.on('topologyDescriptionChanged', ({ newDescription }) => {
      this.#hasOthers = newDescription.servers.size > 1;
    });
    client.on('connectionCheckedOut', ({ address }) => {
      this.#host = address;
    });
  }

  /** Null before the first call. */
  get inUse(): HostInUse | null {
    return this.#host === null ? null : { host: this.#host, insteadOf: null, hasOthers: this.#hasOthers };
  }
}
