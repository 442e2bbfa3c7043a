import { setTimeout as wait } from 'node:timers/promises';
import knex, { type Knex } from 'knex';
import type { HostInUse } from '#engine/engine.ts';
import type { EngineLog } from '#engine/log.ts';
import { orLate } from '#sidecar/deadline.ts';
import type { SqlFailure } from '../session.ts';
import { DeadlineSession } from './deadline-session.ts';
import type { ConnectionSource, SqlConnection, SqlDriver } from './driver.ts';
import { HostWatch } from './host-watch.ts';

/** An idle server is left alone. A server that is back is used at once. */
const IDLE_TIMEOUT_MS = 300_000;
const CONNECT_RETRY_MS = 10;
/** Calls have their own deadlines, which come first. */
const NEVER_MS = 600_000;
const REAP_INTERVAL_MS = 10_000;
/** A connection that was given back is at hand for so long. */
const AT_HAND_MS = 1000;
/** Making the system tables may wait for the disk of the server. */
const PREPARE_TIMEOUT_MS = 15_000;
const MAX_PREPARATIONS = 10;
const PREPARE_RETRY_MS = 200;
const END_TIMEOUT_MS = 1000;
const CLOSE_TIMEOUT_MS = 1000;

/** The owner's log already has the messages of knex, without quoted values. */
const SILENT = { warn: () => {}, error: () => {}, debug: () => {}, deprecate: () => {} };

interface PoolEvents {
  connect(): Promise<SqlConnection>;
  /** False: the connection is replaced. */
  isWanted(connection: SqlConnection): boolean;
  /** Also for a connection that is gone. */
  end(connection: SqlConnection): Promise<void>;
}

/** The pool of knex: its declarations also allow pools of others, which cannot take a request back. */
type KnexPool = Extract<Knex.Client['pool'], { acquire(): { abort(): void } }>;

class PoolClient extends knex.Client {
  readonly #events: PoolEvents;

  constructor(events: PoolEvents, size: number) {
    super({
      client: 'sidecar',
      log: SILENT,
      pool: {
        min: 0,
        max: size,
        idleTimeoutMillis: IDLE_TIMEOUT_MS,
        reapIntervalMillis: REAP_INTERVAL_MS,
        acquireTimeoutMillis: NEVER_MS,
        createTimeoutMillis: NEVER_MS,
        createRetryIntervalMillis: CONNECT_RETRY_MS,
        // Waiting calls learn at once that no connection can be made.
        propagateCreateError: true,
      },
    });
    this.#events = events;
    this.initializePool();
  }

  override acquireRawConnection(): Promise<SqlConnection> {
    return this.#events.connect();
  }

  override destroyRawConnection(connection: SqlConnection): Promise<void> {
    return this.#events.end(connection);
  }

  override async validateConnection(connection: SqlConnection): Promise<boolean> {
    return this.#events.isWanted(connection);
  }
}

/** Open connections that are lent, in the pool of knex. A connection that is no longer usable is replaced at its turn. */
export class ConnectionPool implements ConnectionSource {
  readonly isSnapshot = false;
  readonly #driver: SqlDriver;
  readonly #client: PoolClient;
  readonly #hosts: HostWatch;
  /** Connections that are open or being made. */
  readonly #open = new Set<SqlConnection>();
  /**
   * Given back by calls, and still lent by the pool of knex, whose way from one call to the next costs as much as a short statement.
   * The last one is lent first, as there.
   */
  #atHand: SqlConnection[] = [];
  #atHandTimer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #isPrepared = false;
  #preparations = 0;

  constructor(driver: SqlDriver, size: number, log: EngineLog) {
    this.#driver = driver;
    this.#hosts = new HostWatch(driver, log);
    const events: PoolEvents = {
      connect: () => this.#connect(),
      isWanted: (connection) => this.#isWanted(connection),
      end: (connection) => this.#end(connection),
    };
    this.#client = new PoolClient(events, size);
  }

  get isPreparing(): boolean {
    return this.#preparations > 0;
  }

  take(): SqlConnection | null {
    for (let last = this.#atHand.pop(); last !== undefined; last = this.#atHand.pop()) {
      if (this.#isWanted(last)) return last;
      this.discard(last);
    }
    return null;
  }

  acquire(deadline: number): Promise<SqlConnection | null> {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return Promise.resolve(null);
    const pending = this.#pool.acquire();
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        pending.abort();
        resolve(null);
      }, leftMs);
      pending.promise.then(
        (connection: SqlConnection) => {
          clearTimeout(timer);
          // The pool may have lent the connection at the same moment.
          if (isLate) this.release(connection);
          else resolve(connection);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }

  release(connection: SqlConnection): void {
    if (connection.isWornOut) this.discard(connection);
    else if (this.#isClosed || this.#pool.numPendingAcquires() > 0) this.#pool.release(connection);
    else {
      this.#atHand.push(connection);
      this.#atHandTimer ??= setTimeout(() => this.#giveBack(), AT_HAND_MS).unref();
    }
  }

  discard(connection: SqlConnection): void {
    this.#destroy(connection);
    this.#pool.release(connection);
  }

  leaveHost(connection: SqlConnection): boolean {
    this.#hosts.failed(connection);
    return this.#hosts.hasSeveral;
  }

  hostInUse(): HostInUse {
    return this.#hosts.inUse;
  }

  classify(error: unknown): SqlFailure {
    return this.#driver.classify(error);
  }

  describe(error: unknown): string {
    return this.#driver.describe(error);
  }

  /** Resolves within a second, whatever the server does. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#giveBack();
    this.#hosts.close();
    for (const connection of this.#open) void this.#end(connection);
    const destroyed = this.#client.destroy(undefined).catch(() => {});
    await orLate(destroyed, CLOSE_TIMEOUT_MS, undefined);
    for (const connection of this.#open) this.#destroy(connection);
  }

  get #pool(): KnexPool {
    return this.#client.pool as KnexPool;
  }

  #isWanted(connection: SqlConnection): boolean {
    return connection.isUsable && this.#hosts.isAtCurrent(connection);
  }

  /** To the pool of knex, which ends those that are idle for long. */
  #giveBack(): void {
    if (this.#atHandTimer !== null) clearTimeout(this.#atHandTimer);
    this.#atHandTimer = null;
    const connections = this.#atHand;
    this.#atHand = [];
    for (const connection of connections) this.#pool.release(connection);
  }

  async #connect(): Promise<SqlConnection> {
    const connection = await this.#hosts.connect(
      (made) => this.#orDestroyed(made, () => made.connect()),
      (spare) => this.#destroy(spare),
    );
    if (!this.#isPrepared) {
      await this.#orDestroyed(connection, () => inTime(connection, PREPARE_TIMEOUT_MS, this.#prepare(connection)));
    }
    return connection;
  }

  async #orDestroyed(connection: SqlConnection, step: () => Promise<void>): Promise<void> {
    this.#open.add(connection);
    try {
      await step();
    } catch (error) {
      this.#destroy(connection);
      throw error;
    }
  }

  /** Repeated after a conflict: several sidecars may prepare a database at once, on different nodes of a cluster. */
  async #prepare(connection: SqlConnection): Promise<void> {
    const session = new DeadlineSession(this, connection, performance.now() + PREPARE_TIMEOUT_MS);
    this.#preparations += 1;
    try {
      for (let attempt = 1; !this.#isPrepared; attempt += 1) {
        try {
          await this.#driver.prepare(session);
          this.#isPrepared = true;
        } catch (error) {
          if (this.#driver.classify(error).kind !== 'conflict' || attempt === MAX_PREPARATIONS) throw error;
          await wait(Math.random() * PREPARE_RETRY_MS);
        }
      }
    } finally {
      this.#preparations -= 1;
      session.end();
    }
  }

  async #end(connection: SqlConnection): Promise<void> {
    this.#noteLoss(connection);
    if (connection.isUsable) await inTime(connection, END_TIMEOUT_MS, connection.end()).catch(() => {});
    connection.destroy();
    this.#open.delete(connection);
  }

  #destroy(connection: SqlConnection): void {
    this.#noteLoss(connection);
    connection.destroy();
    this.#open.delete(connection);
  }

  #noteLoss(connection: SqlConnection): void {
    if (this.#driver.preparesAfterLoss && !connection.isUsable) this.#isPrepared = false;
  }
}

/** Destroys the connection if the step takes longer, which rejects the step. */
async function inTime<T>(connection: SqlConnection, ms: number, step: Promise<T>): Promise<T> {
  const timer = setTimeout(() => connection.destroy(), ms);
  try {
    return await step;
  } finally {
    clearTimeout(timer);
  }
}
