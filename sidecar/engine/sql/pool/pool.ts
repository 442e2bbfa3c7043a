import KnexClient from 'knex/lib/client.js';

/** Makes and ends the connections of a pool. */
export interface ConnectionMaker<C> {
  /** Connected, set up and checked. */
  connect(): Promise<C>;
  isUsable(connection: C): boolean;
  /** Ends it in good order where it is idle, and at once where it is not. Also for one that is gone. */
  end(connection: C): Promise<void>;
  /** Begins to end all, also those being made, so that nothing waits for them. */
  endAll(): void;
  /** Whatever is left. */
  destroyAll(): void;
}

/** An idle server is left alone; one that comes back to life is used at once. */
const IDLE_TIMEOUT_MS = 300_000;
const CONNECT_RETRY_MS = 10;
/** Calls have their own deadlines, which come first. */
const NEVER_MS = 600_000;
const REAP_INTERVAL_MS = 10_000;
const CLOSE_TIMEOUT_MS = 1000;

/** What knex would print, the owner's log has already, and without quoting. */
const SILENT = { warn: () => {}, error: () => {}, debug: () => {}, deprecate: () => {} };

class PoolClient<C extends object> extends KnexClient<C> {
  readonly #maker: ConnectionMaker<C>;

  constructor(maker: ConnectionMaker<C>, size: number) {
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
        // Whoever waits hears at once that there is no server.
        propagateCreateError: true,
      },
    });
    this.#maker = maker;
    this.initializePool();
  }

  override acquireRawConnection(): Promise<C> {
    return this.#maker.connect();
  }

  override destroyRawConnection(connection: C): Promise<void> {
    return this.#maker.end(connection);
  }

  override validateConnection(connection: C): boolean {
    return this.#maker.isUsable(connection);
  }
}

/** Connections that are kept open and lent, in knex's pool. One that is not usable any more is replaced when it is its turn. */
export class ConnectionPool<C extends object> {
  readonly #maker: ConnectionMaker<C>;
  readonly #client: PoolClient<C>;

  constructor(maker: ConnectionMaker<C>, size: number) {
    this.#maker = maker;
    this.#client = new PoolClient(maker, size);
  }

  /** Null where the deadline comes first. Rejects with what the making of a connection failed with. */
  acquire(deadline: number): Promise<C | null> {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return Promise.resolve(null);
    const pending = this.#client.pool.acquire();
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        pending.abort();
        resolve(null);
      }, leftMs);
      pending.promise.then(
        (connection) => {
          clearTimeout(timer);
          // The pool may have lent it in the very moment.
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

  release(connection: C): void {
    this.#client.pool.release(connection);
  }

  /** Resolves within a second, whatever the server does. */
  async close(): Promise<void> {
    this.#maker.endAll();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
    });
    await Promise.race([this.#client.destroy().catch(() => {}), late]);
    clearTimeout(timer);
    this.#maker.destroyAll();
  }
}
