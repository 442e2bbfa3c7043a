import type { ConnectionOptions } from 'mysql2';
import { mysqlPlace } from '../settings.ts';

/** Statements that each connection keeps prepared. The server counts them over all programs (max_prepared_stmt_count). */
const MAX_PREPARED = 128;

/** Reaching the server and being let in. */
export const CONNECT_TIMEOUT_MS = 5000;

/** What the URL of the configuration says, for the driver. @throws Error with one clear line, without the URL */
export function connectionOptions(url: string): ConnectionOptions {
  return {
    ...mysqlPlace(url, 'database.url'),
    ...EXACT,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxPreparedStatements: MAX_PREPARED,
    trace: false,
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
