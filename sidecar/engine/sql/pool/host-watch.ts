import type { HostInUse } from '#engine/engine.ts';
import type { EngineLog } from '#engine/log.ts';
import { LOG_EVENT } from '#sidecar/log-event.ts';
import type { SqlConnection, SqlDriver } from './driver.ts';
import { HostChoice, type Standing } from './host-choice.ts';

const LOOK_INTERVAL_MS = 2000;
/** A server that hangs must not hold up the search for another one. */
const LOOK_TIMEOUT_MS = 1500;

const REPLACED = Object.assign(new Error('the server was replaced by another one of database.url'), {
  code: 'ECONNREFUSED',
});

/**
 * The hosts of a URL behind one pool: opens connections at a good one, looks at the others every two seconds, and says when
 * connections belong elsewhere. With one host it does nothing beside opening.
 */
export class HostWatch {
  readonly #driver: SqlDriver;
  readonly #log: EngineLog;
  readonly #choice: HostChoice;
  readonly #hostOf = new WeakMap<SqlConnection, number>();
  /** Connections that only look; each host has one at most. */
  readonly #looking = new Map<number, SqlConnection>();
  /** Looks that are under way. */
  readonly #asking = new Map<number, Promise<Standing | null>>();
  #firstLook: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #told = 0;
  #isClosed = false;

  constructor(driver: SqlDriver, log: EngineLog) {
    this.#driver = driver;
    this.#log = log;
    this.#choice = new HostChoice(driver.hosts.length);
  }

  get hasSeveral(): boolean {
    return this.#driver.hosts.length > 1;
  }

  get inUse(): HostInUse {
    const [first = ''] = this.#driver.hosts;
    const { current } = this.#choice;
    const host = this.#driver.hosts[current] ?? first;
    return { host, insteadOf: current === 0 ? null : first, hasOthers: this.hasSeveral };
  }

  /** Whether the connection is at the host that is used now. */
  isAtCurrent(connection: SqlConnection): boolean {
    return !this.hasSeveral || this.#hostOf.get(connection) === this.#choice.current;
  }

  /** The host of the connection refused work, or did not answer: the next one is tried. */
  failed(connection: SqlConnection): void {
    const host = this.#hostOf.get(connection);
    // The owner is told once another host is seen to be good: the last look at it may be long ago.
    if (this.hasSeveral && host !== undefined) this.#choice.failed(host, performance.now());
  }

  /**
   * A connection to the current host, or to the next one that takes writes. If none does, to the first that answers at all.
   * `open` connects, and discards a connection that fails. Rejects with the error of the first host.
   */
  async connect(
    open: (connection: SqlConnection) => Promise<void>,
    drop: (connection: SqlConnection) => void,
  ): Promise<SqlConnection> {
    if (!this.hasSeveral) return this.#opened(0, open);
    this.#firstLook ??= this.#lookFirst();
    await this.#firstLook;
    let spare: SqlConnection | null = null;
    const errors: unknown[] = [];
    const failed: number[] = [];
    for (const host of this.#choice.order()) {
      try {
        const connection = await this.#opened(host, open);
        if (await this.#isGood(host, connection, drop)) {
          if (spare !== null) drop(spare);
          this.#tell(host);
          return connection;
        }
        if (spare === null && !this.#choice.isReplaced(host)) spare = connection;
        else drop(connection);
      } catch (error) {
        errors.push(error);
        failed.push(host);
        this.#choice.failed(host, performance.now());
      }
    }
    if (spare === null) throw errors[0] ?? REPLACED;
    const host = this.#hostOf.get(spare) ?? 0;
    if (host !== this.#choice.current && (await this.#isAnyGood(failed))) {
      drop(spare);
      throw errors[0];
    }
    this.#choice.makeDo(host);
    this.#tell(host);
    return spare;
  }

  /** A second look: on a busy machine a single connection may fail to a host that is good. */
  async #isAnyGood(hosts: readonly number[]): Promise<boolean> {
    await Promise.all(hosts.map((host) => this.#look(host)));
    return hosts.some((host) => this.#choice.isGood(host));
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const connection of this.#looking.values()) connection.destroy();
    this.#looking.clear();
  }

  async #opened(host: number, open: (connection: SqlConnection) => Promise<void>): Promise<SqlConnection> {
    const connection = this.#driver.newConnection(host);
    this.#hostOf.set(connection, host);
    await open(connection);
    return connection;
  }

  async #isGood(host: number, connection: SqlConnection, drop: (connection: SqlConnection) => void): Promise<boolean> {
    try {
      this.#choice.saw(host, await standingOf(this.#driver, connection), performance.now());
    } catch (error) {
      drop(connection);
      throw error;
    }
    return this.#choice.isGood(host);
  }

  /** Before the first connection: a primary that comes back after it was replaced may be the first in the URL. */
  async #lookFirst(): Promise<void> {
    const hosts = this.#driver.hosts.map((_, host) => host);
    const found = await Promise.all(hosts.map((host) => this.#asked(host)));
    // In the order of the URL, which is not that of the answers.
    for (const host of hosts) this.#note(host, found[host] ?? null);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#lookAround(), LOOK_INTERVAL_MS);
    this.#timer.unref();
  }

  async #lookAround(): Promise<void> {
    const wanted = this.#choice.toWatch(this.#driver.hasEpochs);
    for (const [host, connection] of this.#looking) {
      if (wanted.includes(host)) continue;
      this.#looking.delete(host);
      connection.destroy();
    }
    await Promise.all(wanted.map((host) => this.#look(host)));
    for (const host of wanted) if (this.#choice.isGood(host)) this.#tell(host);
    this.#schedule();
  }

  /** Never rejects. */
  async #look(host: number): Promise<void> {
    this.#note(host, await this.#asked(host));
  }

  #note(host: number, standing: Standing | null): void {
    if (standing === null) this.#choice.failed(host, performance.now());
    else this.#choice.saw(host, standing, performance.now());
  }

  /** Null if the host does not answer. Joins a look that is under way. */
  #asked(host: number): Promise<Standing | null> {
    const running = this.#asking.get(host) ?? this.#ask(host).finally(() => this.#asking.delete(host));
    this.#asking.set(host, running);
    return running;
  }

  async #ask(host: number): Promise<Standing | null> {
    const known = this.#looking.get(host);
    const connection = known ?? this.#driver.newConnection(host);
    const timer = setTimeout(() => connection.destroy(), LOOK_TIMEOUT_MS);
    try {
      if (known === undefined) await connection.connect();
      const standing = await standingOf(this.#driver, connection);
      if (this.#isClosed) connection.destroy();
      else this.#looking.set(host, connection);
      return standing;
    } catch {
      this.#looking.delete(host);
      connection.destroy();
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  /** `host` has just answered. */
  #tell(host: number): void {
    const { current } = this.#choice;
    if (current !== host || current === this.#told) return;
    const fields = { host: `${this.#driver.hosts[current]}`, before: `${this.#driver.hosts[this.#told]}` };
    this.#told = current;
    if (current === 0) {
      const message = 'the database is used at the first host of database.url again';
      this.#log('info', message, { ...fields, event: LOG_EVENT.recovered });
      return;
    }
    this.#log(
      'warn',
      'a host of database.url does not answer or takes no writes: the database is used at another one',
      fields,
    );
  }
}

async function standingOf(driver: SqlDriver, connection: SqlConnection): Promise<Standing> {
  const timer = setTimeout(() => connection.destroy(), LOOK_TIMEOUT_MS);
  try {
    return await driver.standing((text) => connection.query(text));
  } finally {
    clearTimeout(timer);
  }
}
