import pg from 'pg';
import { UnusableDatabaseError } from '../model/failures.ts';
import { UnconfirmedError } from '../sql/pool/deadline-session.ts';
import type { SqlConnection } from '../sql/pool/driver.ts';
import type { SqlParam, SqlResult } from '../sql/session.ts';
import { isUnprepared } from './failures.ts';
import { Statement } from './statement.ts';

/** Contract section 2. */
const OLDEST_VERSION = 13;
const CANCEL_TIMEOUT_MS = 5000;
/** A connection that has prepared more is replaced, since no statement is dropped without a round trip. */
const MAX_PREPARED = 1000;

/** Properties of pg that its declarations leave out. */
interface ClientInternals {
  readonly connection: {
    readonly stream: { destroy(): void };
    on(event: 'parameterStatus', listener: (message: ParameterStatus) => void): void;
  };
  readonly host: string;
  readonly port: number;
  readonly processID: number | null;
  readonly secretKey: unknown;
}

interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

interface CancelConnection {
  readonly stream: { destroy(): void };
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number | null, secretKey: unknown): void;
  on(event: 'connect' | 'sslconnect' | 'end' | 'error', listener: () => void): void;
}

export class PostgresConnection implements SqlConnection {
  readonly #client: pg.Client & ClientInternals;
  readonly #names: StatementNames;
  readonly #prepared = new Set<string>();
  #isConnected = false;
  #isGone = false;
  /** A commit did not wait for its replicas to the end: our cancel, or the server's stop, ended the wait. */
  #isUnconfirmed = false;

  constructor(config: pg.ClientConfig, names: StatementNames) {
    this.#client = new pg.Client(config) as pg.Client & ClientInternals;
    this.#names = names;
    this.#client.on('error', () => {
      this.#isGone = true;
    });
    this.#client.on('end', () => {
      this.#isGone = true;
    });
    // The server reports success and this notice. Its text depends on the server's language; the routine does not.
    this.#client.on('notice', ({ routine }) => {
      if (routine === 'SyncRepWaitForLSN') this.#isUnconfirmed = true;
    });
  }

  /** @throws UnusableDatabaseError for a server that is too old, or a database that cannot hold every text */
  async connect(): Promise<void> {
    const reported = new Map<string, string>();
    this.#client.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      reported.set(parameterName, parameterValue);
    });
    await this.#client.connect();
    this.#isConnected = true;
    checkServer(reported);
  }

  get isUsable(): boolean {
    return !this.#isGone;
  }

  get isWornOut(): boolean {
    return this.#prepared.size > MAX_PREPARED;
  }

  /** Without `params` by the simple protocol, which takes several statements in one text; the last one counts. */
  query(text: string, params?: readonly SqlParam[], { isPrepared = false } = {}): Promise<SqlResult> {
    const name = isPrepared ? this.#names.of(text) : '';
    if (name !== '') this.#prepared.add(name);
    return new Promise((resolve, reject) => {
      const done = (result: SqlResult): void => {
        if (this.#isUnconfirmed) reject(new UnconfirmedError());
        else resolve(result);
      };
      const failed = (error: Error): void => {
        if (isUnprepared(error)) this.#names.forget(text);
        reject(error);
      };
      if (params !== undefined) {
        this.#client.query(new Statement({ text, name, params, done, failed }));
        return;
      }
      this.#client.query({ text, rowMode: 'array' }, (error, answer) => {
        if (error) failed(error);
        else done(resultOf(answer));
      });
    });
  }

  begin(): Promise<SqlResult> {
    return this.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  }

  rollback(): Promise<SqlResult> {
    return this.query('ROLLBACK');
  }

  /** PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, not with an error. */
  async commit(): Promise<void> {
    const { command } = await this.#client.query('COMMIT');
    if (command !== 'COMMIT') throw new Error('the transaction had failed before its commit');
    if (this.#isUnconfirmed) throw new UnconfirmedError();
  }

  cancel(): Promise<void> {
    const { host, port, ssl, processID, secretKey } = this.#client;
    const Connection = pg.Connection as unknown as new (config: { readonly ssl: unknown }) => CancelConnection;
    const connection = new Connection({ ssl });
    return new Promise((resolve) => {
      const timer = setTimeout(() => connection.stream.destroy(), CANCEL_TIMEOUT_MS);
      const send = (): void => connection.cancel(processID, secretKey);
      connection.on('connect', () => (ssl ? connection.requestSsl() : send()));
      connection.on('sslconnect', send);
      connection.on('error', () => connection.stream.destroy());
      connection.on('end', () => {
        clearTimeout(timer);
        resolve();
      });
      if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
      else connection.connect(port, host);
    });
  }

  /** Closes in good order if possible. */
  async end(): Promise<void> {
    if (this.#isGone || !this.#isConnected) return this.destroy();
    this.#isGone = true;
    await this.#client.end();
  }

  destroy(): void {
    this.#isGone = true;
    this.#client.connection.stream.destroy();
  }
}

function checkServer(reported: ReadonlyMap<string, string>): void {
  const version = reported.get('server_version') ?? '';
  if (Number.parseInt(version, 10) < OLDEST_VERSION) {
    throw new UnusableDatabaseError(`PostgreSQL ${version} is too old: ${OLDEST_VERSION} or newer is needed`);
  }
  const encoding = reported.get('server_encoding') ?? '';
  if (encoding !== 'UTF8') {
    throw new UnusableDatabaseError(`the database has the encoding ${encoding}: create one with ENCODING 'UTF8'`);
  }
}

/** Several statements in one text give several results; the last one counts. */
function resultOf(answer: pg.QueryArrayResult | readonly pg.QueryArrayResult[]): SqlResult {
  const result = (Array.isArray(answer) ? answer.at(-1) : answer) as pg.QueryArrayResult;
  return { rows: result.rows, affected: result.rowCount ?? 0, insertId: null };
}

/** More than a server's scripts use at a time; a text that falls out gets a new name at its next use. */
const MAX_NAMES = 500;
const SEEN_KEPT = 2000;

/**
 * Names of repeated statements, the same on every connection. A text gets no name at its first use: preparing costs the
 * server memory, and many texts are used once.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #seen = new Set<string>();
  #last = 0;

  /** Empty at its first use. */
  of(text: string): string {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (!this.#seen.delete(text)) {
      if (this.#seen.size >= SEEN_KEPT) this.#seen.clear();
      this.#seen.add(text);
      return '';
    }
    const name = `s${++this.#last}`;
    if (this.#names.size >= MAX_NAMES) this.#forgetOldest();
    this.#names.set(text, name);
    return name;
  }

  /** The server has refused it under its name. */
  forget(text: string): void {
    this.#names.delete(text);
  }

  #forgetOldest(): void {
    const [oldest] = this.#names.keys();
    if (oldest !== undefined) this.#names.delete(oldest);
  }
}
