import type { ConnectionOptions } from 'mysql2';

/** Statements that each connection keeps prepared. The server counts them over all programs (max_prepared_stmt_count). */
const MAX_PREPARED = 128;

/** Reaching the server and being let in. */
export const CONNECT_TIMEOUT_MS = 5000;

/**
 * What the URL of the configuration says, for the driver. `?ssl=true` asks for TLS with a certificate that is checked,
 * `?ssl=unchecked` for one that is not, `?socketPath=/run/mysqld/mysqld.sock` for a socket.
 * @throws Error with one clear line, without the URL: it holds a password.
 */
export function connectionOptions(url: string): ConnectionOptions {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const database = decodeURIComponent(pathname.slice(1));
  if (database === '') throw new Error('database.url: expected the name of a database after the host, got none');
  const ssl = readSsl(searchParams);
  const socketPath = searchParams.get('socketPath');
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database,
    ...(ssl === null ? {} : { ssl }),
    ...(socketPath === null ? {} : { socketPath }),
    ...EXACT,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxPreparedStatements: MAX_PREPARED,
    trace: false,
    // A server must not be able to ask for files of this machine.
    flags: ['-LOCAL_FILES'],
  };
}

/** Nothing is converted on its way: large integers, decimals and times are text. */
const EXACT = {
  charset: 'utf8mb4_bin',
  rowsAsArray: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  jsonStrings: true,
  timezone: 'Z',
} as const satisfies ConnectionOptions;

function readSsl(parameters: URLSearchParams): { readonly rejectUnauthorized: boolean } | null {
  for (const name of parameters.keys()) {
    if (name !== 'ssl' && name !== 'socketPath') {
      throw new Error(`database.url: expected no parameters but ssl and socketPath, got ${name}`);
    }
  }
  const ssl = parameters.get('ssl');
  if (ssl === null || ssl === 'false') return null;
  if (ssl === 'true') return { rejectUnauthorized: true };
  if (ssl === 'unchecked') return { rejectUnauthorized: false };
  throw new Error(`database.url: expected ssl=true, ssl=unchecked or ssl=false, got ssl=${ssl}`);
}
