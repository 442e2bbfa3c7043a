/** `database` of sidecar.json: paths are absolute, the URL is read. */
export type DatabaseSettings = SqliteSettings | ServerSettings;

export interface SqliteSettings {
  readonly provider: 'sqlite';
  /** Absolute path. */
  readonly file: string;
  /** Threads: one writes, the others read. */
  readonly poolSize: number;
  /** Another program copies the write-ahead log and alone moves it into the file (checkpoints). Default false. */
  readonly leavesCheckpoints?: boolean;
}

export interface ServerSettings {
  readonly provider: 'postgres' | 'mysql' | 'mongodb';
  /** With account and password, and maybe several hosts: never in a log or an error. */
  readonly url: string;
  /** Connections. */
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  /** On a cluster a read waits for the writes that were answered before it. Default true. */
  readonly causalReads?: boolean;
}

/** Options of the driver. */
export interface MysqlPlace {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl?: { readonly rejectUnauthorized: boolean };
  readonly socketPath?: string;
  readonly flags: string[];
}

/**
 * Connection options in a URL of MySQL or MariaDB. `?ssl=true` asks for TLS with a checked certificate,
 * `?ssl=unchecked` for TLS without the check, `?socketPath=/run/mysqld/mysqld.sock` for a socket. `field` is the name
 * of the setting, for errors.
 * @throws Error with one clear line, without the URL: it holds a password.
 */
export function mysqlPlace(url: string, field: string): MysqlPlace {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1));
  if (database === '') throw new Error(`${field}: expected the name of a database after the host, got none`);
  const ssl = readSsl(searchParams, field);
  const socketPath = searchParams.get('socketPath');
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database,
    ...(ssl === null ? {} : { ssl }),
    ...(socketPath === null ? {} : { socketPath }),
    // A server must not be able to ask for files of this machine.
    flags: ['-LOCAL_FILES'],
  };
}

function readSsl(parameters: URLSearchParams, field: string): { readonly rejectUnauthorized: boolean } | null {
  for (const name of parameters.keys()) {
    if (name !== 'ssl' && name !== 'socketPath') {
      throw new Error(`${field}: expected no parameters but ssl and socketPath, got ${name}`);
    }
  }
  const ssl = parameters.get('ssl');
  if (ssl === null || ssl === 'false') return null;
  if (ssl === 'true') return { rejectUnauthorized: true };
  if (ssl === 'unchecked') return { rejectUnauthorized: false };
  throw new Error(`${field}: expected ssl=true, ssl=unchecked or ssl=false, got ssl=${ssl}`);
}
