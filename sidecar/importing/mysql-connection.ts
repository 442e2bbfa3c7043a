import { type Connection, createConnection, type RowDataPacket } from 'mysql2';
import { type MysqlPlace, mysqlPlace } from '../engine/settings.ts';
import { MoveRefused } from '../moving/report.ts';

/** Every value as its text; null for NULL. */
export type TextRow = readonly (string | null)[];

const CONNECT_MS = 10_000;
const UNREACHABLE = 'is its server running, and are host and port of the URL right?';
/** A row may be some megabytes wide. */
const READ_AHEAD_ROWS = 32;

/** Names come from the foreign database, and may hold anything. */
export function quotedName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

function placeOf(url: string): MysqlPlace {
  try {
    return mysqlPlace(url, 'the URL to import from');
  } catch (error) {
    throw new MoveRefused((error as Error).message);
  }
}

/** Advice for the owner of the foreign database, whose URL is an option; by the code of the driver. */
const ADVICE: Readonly<Record<string, string>> = {
  ER_ACCESS_DENIED_ERROR: 'are account and password of the URL right?',
  ER_BAD_DB_ERROR: 'is the name of the database in the URL right?',
  ER_DBACCESS_DENIED_ERROR: 'grant the account the right to read this database',
  ER_HOST_NOT_PRIVILEGED: 'the server does not let this host in: check the host of the account',
  ER_CON_COUNT_ERROR: 'the server has no connection left: raise max_connections',
};

const NETWORK = /^(E[A-Z_]+|PROTOCOL_[A-Z_]+)$/;

function adviceOn(error: unknown): string {
  const code = codeOf(error);
  const advice = ADVICE[code] ?? (isOfNetwork(code) ? UNREACHABLE : null);
  return advice === null ? '' : `; ${advice}`;
}

/** An error of a connection that ended in the middle says how the work goes on. */
function namingLoss(error: unknown): unknown {
  if (!isOfNetwork(codeOf(error))) return error;
  const { message } = error as Error;
  return new MoveRefused(
    `the database to import from was lost (${message}): run the same command again when it is back`,
  );
}

/** Names of errors of the server begin with ER_. */
function isOfNetwork(code: string): boolean {
  return NETWORK.test(code) && !code.startsWith('ER_');
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

/** A connection to the foreign database, which it only reads: one snapshot for all that it reads. */
export class MysqlConnection {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** @throws MoveRefused if the server or the database cannot be reached; never with the password */
  static async open(url: string): Promise<MysqlConnection> {
    const connection = createConnection({
      ...placeOf(url),
      charset: 'utf8mb4',
      connectTimeout: CONNECT_MS,
      rowsAsArray: true,
      typeCast: (field) => field.string(),
    });
    // An error without a listener would be thrown outside of any call; every call reports its own failure.
    connection.on('error', () => undefined);
    const opened = new MysqlConnection(connection);
    try {
      await opened.#connected();
      await opened.#prepare();
      return opened;
    } catch (error) {
      connection.destroy();
      throw new MoveRefused(
        `the database to import from cannot be read: ${(error as Error).message}${adviceOn(error)}. Nothing was changed`,
      );
    }
  }

  rows(sql: string, params: readonly string[] = []): Promise<TextRow[]> {
    return new Promise((resolve, reject) => {
      this.#connection.query<RowDataPacket[]>(sql, [...params], (error, rows) => {
        if (error === null) resolve(rows as unknown as TextRow[]);
        else reject(namingLoss(error));
      });
    });
  }

  /** Row by row, as fast as they are taken. A reader that leaves early closes the connection. */
  async *stream(sql: string): AsyncGenerator<TextRow> {
    try {
      for await (const row of this.#connection.query(sql).stream({ highWaterMark: READ_AHEAD_ROWS })) {
        yield row as TextRow;
      }
    } catch (error) {
      throw namingLoss(error);
    }
  }

  close(): void {
    this.#connection.destroy();
  }

  #connected(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.connect((error) => (error === null ? resolve() : reject(error)));
    });
  }

  /** Whatever the server's defaults are: TIMESTAMP in UTC, zero dates readable, no quoting of another kind. */
  async #prepare(): Promise<void> {
    // A server may be told to pass by the character set that the driver asks for, or to end every answer early.
    await this.rows('SET NAMES utf8mb4');
    await this.rows(
      "SET SESSION time_zone = '+00:00', sql_mode = '', net_write_timeout = 3600, net_read_timeout = 3600, sql_select_limit = 18446744073709551615, sql_big_selects = 1",
    );
    // The next id of MySQL 8 is a day old otherwise; MariaDB and older servers do not know the variable.
    await this.rows('SET SESSION information_schema_stats_expiry = 0').catch(() => undefined);
    await this.rows('SET SESSION max_statement_time = 0').catch(() => undefined);
    await this.rows('SET SESSION max_execution_time = 0').catch(() => undefined);
    await this.rows('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await this.rows('START TRANSACTION WITH CONSISTENT SNAPSHOT');
  }
}
