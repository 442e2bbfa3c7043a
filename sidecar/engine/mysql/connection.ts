import mysql, { type Connection, type ConnectionOptions } from 'mysql2';
import { UnsentError } from '../sql/pool/deadline-session.ts';
import type { SqlParam, SqlResult, TakeRow } from '../sql/session.ts';
import { classify } from './failures.ts';

/** A statement with more parameters would fill the server's memory if it were kept prepared. */
export const MAX_KEPT_PARAMS = 4000;
/** What is read and thrown away to keep a connection whose rows are not wanted any more. */
const MAX_SKIPPED_BYTES = 16 * 1024 * 1024;

/** What the driver tells of a statement that gives no rows. */
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

/** What the driver's declarations leave out. */
interface DriverConnection extends Connection {
  readonly stream: { readonly bytesRead: number; readonly destroyed: boolean };
}

interface Statement {
  execute(params: readonly unknown[]): Command;
}

/**
 * One connection of the driver. Statements run one after another; what is not known about the last one (its rows were
 * left, the connection broke) makes it unusable.
 */
export class MysqlConnection {
  readonly #driver: DriverConnection;
  #isUsable = true;
  /** Ends the statement that runs, when the connection breaks. */
  #fail: ((error: Error) => void) | null = null;

  private constructor(driver: DriverConnection) {
    this.#driver = driver;
    driver.on('error', (error: Error) => this.#broken(error));
    driver.on('end', () => this.#broken(new ClosedError()));
  }

  /** Logged in, nothing more. Rejects with the driver's error; `made` hears of it before it is connected. */
  static async open(options: ConnectionOptions, made: (connection: MysqlConnection) => void): Promise<MysqlConnection> {
    const driver = mysql.createConnection(options) as DriverConnection;
    const connection = new MysqlConnection(driver);
    made(connection);
    await connection.#running<void>((resolve, reject) => {
      driver.connect((error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
    return connection;
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** By which the server knows it. */
  get threadId(): number {
    return this.#driver.threadId;
  }

  /** Without `params` by the text protocol, which takes every statement; else prepared, and kept so if wanted. */
  async query(
    text: string,
    params: readonly SqlParam[] | undefined,
    { isKept, take }: { readonly isKept: boolean; readonly take: TakeRow | null },
  ): Promise<SqlResult> {
    if (params === undefined) return this.#collected(() => this.#driver.query(text) as unknown as Command, take);
    const statement = await this.#prepare(text);
    try {
      return await this.#collected(() => statement.execute(params.map(typed)), take);
    } finally {
      if (this.#isUsable && (!isKept || params.length > MAX_KEPT_PARAMS)) this.#driver.unprepare(text);
    }
  }

  /** Says goodbye to the server and waits for it; rejects where it does not come to that. The caller bounds it. */
  async end(): Promise<void> {
    await this.#running<void>((resolve) => this.#driver.end(() => resolve()));
    this.#isUsable = false;
  }

  destroy(): void {
    this.#broken(new ClosedError());
    this.#driver.destroy();
  }

  /** @throws UnsentError where the connection breaks: what was to run has not run */
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
      const finish = (): void => resolve(resultOf(rows, header));
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

  /** Rejects also when the connection breaks meanwhile, which the driver does not tell every command. */
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

/** The server closed the connection without a word, or it was closed here. */
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
