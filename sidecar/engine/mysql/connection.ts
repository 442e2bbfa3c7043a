import mysql, { type Connection, type ConnectionOptions } from 'mysql2';
import { ApiError } from '#protocol/errors.ts';
import { UnsentError } from '../sql/pool/deadline-session.ts';
import type { SqlConnection } from '../sql/pool/driver.ts';
import type { SqlParam, SqlResult, TakeRow } from '../sql/session.ts';
import { classify, errnoOf, LOCK_WAIT, NotReadyError } from './failures.ts';
import { CAUSAL_READS, checkServer, isReady, isSendable, SERVER_FACTS, type ServerFacts } from './session-setup.ts';

const CANCEL_TIMEOUT_MS = 1000;
/** A statement with more parameters would fill the server's memory if it were kept prepared. */
export const MAX_KEPT_PARAMS = 4000;
/** Most bytes that are read and ignored to keep a connection whose rows are no longer wanted. */
const MAX_SKIPPED_BYTES = 16 * 1024 * 1024;

/** The driver's result for a statement that returns no rows. */
interface Header {
  readonly affectedRows: number;
  readonly insertId: number | string;
}

/** A command of the driver. */
interface Command {
  on(event: 'result', listener: (result: unknown[] | Header | undefined) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'end', listener: () => void): this;
}

/** Properties that the driver's declarations leave out. */
interface DriverConnection extends Connection {
  readonly stream: { readonly bytesRead: number; readonly destroyed: boolean };
}

interface Statement {
  execute(params: readonly unknown[]): Command;
}

interface QueryOptions {
  readonly isPrepared?: boolean;
  readonly take?: TakeRow | null;
}

/** A server of the URL. */
export interface Server {
  readonly options: ConnectionOptions;
  readonly setUpSql: string;
  readonly connectTimeoutMs: number;
  readonly hasCausalReads: boolean;
}

/**
 * A connection of the driver. Statements run one after another. If the end of the last one is unknown (its rows were left,
 * the connection broke), the connection is unusable.
 */
export class MysqlConnection implements SqlConnection {
  /** The driver itself closes prepared statements. */
  readonly isWornOut = false;
  readonly #server: Server;
  readonly #driver: DriverConnection;
  readonly #learn: (facts: ServerFacts) => void;
  #isUsable = true;
  /** Null until the session is set up. */
  #facts: ServerFacts | null = null;
  /** Ends the statement that runs, when the connection breaks. */
  #fail: ((error: Error) => void) | null = null;

  constructor(server: Server, learn: (facts: ServerFacts) => void) {
    this.#server = server;
    this.#learn = learn;
    this.#driver = mysql.createConnection(server.options) as DriverConnection;
    this.#driver.on('error', (error: Error) => this.#broken(error));
    this.#driver.on('end', () => this.#broken(new ClosedError()));
  }

  /** @throws UnusableDatabaseError for a server that cannot serve */
  async connect(): Promise<void> {
    await this.#logIn();
    const timer = setTimeout(() => this.destroy(), this.#server.connectTimeoutMs);
    try {
      await this.query(this.#server.setUpSql);
      const facts = checkServer((await this.query(SERVER_FACTS)).rows);
      if (facts.isGalera && this.#server.hasCausalReads) await this.query(CAUSAL_READS);
      this.#facts = facts;
      this.#learn(facts);
    } finally {
      clearTimeout(timer);
    }
  }

  #logIn(): Promise<void> {
    return this.#running<void>((resolve, reject) => {
      this.#driver.connect((error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Without `params` by the text protocol, which takes every statement; else prepared, and kept so if wanted. */
  async query(text: string, params?: readonly SqlParam[], options: QueryOptions = {}): Promise<SqlResult> {
    try {
      return await this.#queried(text, params, options);
    } catch (error) {
      throw (await this.#isCutOff(error)) ? new NotReadyError() : error;
    }
  }

  /** A node without majority refuses some reads by the error of a lock wait, which a conflict has too. */
  async #isCutOff(error: unknown): Promise<boolean> {
    if (errnoOf(error) !== LOCK_WAIT || this.#facts?.isGalera !== true) return false;
    return isReady((text) => this.#queried(text)).then(
      (isWell) => !isWell,
      () => false,
    );
  }

  async #queried(
    text: string,
    params?: readonly SqlParam[],
    { isPrepared = false, take = null }: QueryOptions = {},
  ): Promise<SqlResult> {
    if (params === undefined) return this.#collected(() => this.#driver.query(text) as unknown as Command, take);
    const facts = this.#facts;
    if (facts !== null && !isSendable(text, params, facts)) {
      const message = 'a row, or what is to be changed, is longer than the server takes at once (max_allowed_packet)';
      throw new ApiError('value_too_long', message);
    }
    const statement = await this.#prepare(text);
    try {
      return await this.#collected(() => statement.execute(params.map(typed)), take);
    } finally {
      if (this.#isUsable && (!isPrepared || params.length > MAX_KEPT_PARAMS)) this.#driver.unprepare(text);
    }
  }

  begin(): Promise<SqlResult> {
    return this.query('START TRANSACTION');
  }

  commit(): Promise<SqlResult> {
    return this.query('COMMIT');
  }

  rollback(): Promise<SqlResult> {
    return this.query('ROLLBACK');
  }

  async cancel(): Promise<void> {
    const side = new MysqlConnection(this.#server, this.#learn);
    const timer = setTimeout(() => side.destroy(), CANCEL_TIMEOUT_MS);
    try {
      await side.#logIn();
      await side.query(`KILL QUERY ${this.#driver.threadId}`);
    } finally {
      clearTimeout(timer);
      side.destroy();
    }
  }

  /** Waits until the server has closed the connection; rejects if it breaks before. */
  async end(): Promise<void> {
    await this.#running<void>((resolve) => this.#driver.end(() => resolve()));
    this.#isUsable = false;
  }

  destroy(): void {
    this.#broken(new ClosedError());
    this.#driver.destroy();
  }

  /** @throws UnsentError if the connection breaks: the statement has not run */
  async #prepare(text: string): Promise<Statement> {
    try {
      return await this.#running<Statement>((resolve, reject) => {
        this.#driver.prepare(text, (error, statement) => {
          if (error === null) resolve(statement as unknown as Statement);
          else reject(error);
        });
      });
    } catch (error) {
      throw classify(error).kind === 'lost' ? new UnsentError() : error;
    }
  }

  #collected(send: () => Command, take: TakeRow | null): Promise<SqlResult> {
    const rows: unknown[][] = [];
    let header: Header | null = null;
    let isTaking = true;
    let leftAt = 0;
    return this.#running<SqlResult>((resolve, reject) => {
      const finish = (): void => resolve({ ...resultOf(rows, header), idStep: this.#facts?.idStep ?? 1n });
      send()
        .on('result', (result) => {
          if (!Array.isArray(result)) header = result ?? null;
          else if (take === null) rows.push(result);
          else if (isTaking) {
            isTaking = takes(take, result, reject);
            leftAt = this.#driver.stream.bytesRead;
          } else if (this.#driver.stream.bytesRead - leftAt > MAX_SKIPPED_BYTES) {
            this.#isUsable = false;
            finish();
          }
        })
        .on('error', reject)
        .on('end', finish);
    });
  }

  /** Rejects also if the connection breaks meanwhile, which the driver does not report to every command. */
  async #running<T>(start: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
    if (!this.#isUsable) throw new UnsentError();
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#fail = reject;
        start(resolve, reject);
      });
    } catch (error) {
      if (classify(error).kind === 'lost') this.#isUsable = false;
      throw error;
    } finally {
      this.#fail = null;
    }
  }

  #broken(error: Error): void {
    this.#isUsable = false;
    this.#fail?.(error);
  }
}

/** The server closed the connection without an error, or it was closed here. */
class ClosedError extends Error {
  readonly code = 'PROTOCOL_CONNECTION_LOST';

  constructor() {
    super('the connection was closed');
    this.name = 'ClosedError';
  }
}

function takes(take: TakeRow, row: readonly unknown[], reject: (error: Error) => void): boolean {
  try {
    return take(row);
  } catch (error) {
    reject(error instanceof Error ? error : new Error(String(error)));
    return false;
  }
}

/** Every type is told to the server: a bigint is compared as an integer, a number as a double, bytes as bytes. */
function typed(param: SqlParam): unknown {
  switch (typeof param) {
    case 'bigint':
      return mysql.TypedParameter.LONGLONG(param);
    case 'boolean':
      return mysql.TypedParameter.TINY(param);
    case 'number':
      return mysql.TypedParameter.DOUBLE(param);
    case 'string':
      return param;
    default:
      return param === null ? null : Buffer.from(param.buffer, param.byteOffset, param.byteLength);
  }
}

function resultOf(rows: readonly unknown[][], header: Header | null): SqlResult {
  if (header === null) return { rows, affected: rows.length, insertId: null };
  const insertId = BigInt(header.insertId);
  return { rows, affected: header.affectedRows, insertId: insertId === 0n ? null : insertId };
}
