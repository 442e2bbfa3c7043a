import type { ConnectionOptions } from 'mysql2';
import { hostsOf, urlsOfHosts } from '#sidecar/server-url.ts';
import { mysqlPlace, type ServerSettings } from '../settings.ts';
import type { SqlDriver } from '../sql/pool/driver.ts';
import { MysqlConnection, type Server } from './connection.ts';
import { classify, describe } from './failures.ts';
import type { Flavour } from './schema/types.ts';
import { type ServerFacts, setUpSql, standingOf } from './session-setup.ts';
import { prepareSystemTables } from './system-tables.ts';

/** Statements that each connection keeps prepared. The server counts them over all programs (max_prepared_stmt_count). */
const MAX_PREPARED = 128;
/** Reaching the server and being let in; setting the session up. Shorter if there is another host to try. */
const CONNECT_TIMEOUT_MS = 5000;
const HOST_CONNECT_TIMEOUT_MS = 1500;

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

export interface MysqlDriver extends SqlDriver {
  /** Flavour of the last connected server; known inside a session. */
  flavour(): Flavour;
}

/**
 * The driver `mysql2` below the pool, for MySQL and MariaDB.
 * @throws Error with one clear line, without the URL, for a URL that says too little
 */
export function mysqlDriver({ url, statementTimeoutMs, causalReads = true }: ServerSettings): MysqlDriver {
  const urls = urlsOfHosts(url);
  const connectTimeoutMs = urls.length > 1 ? HOST_CONNECT_TIMEOUT_MS : CONNECT_TIMEOUT_MS;
  const limits = { connectTimeout: connectTimeoutMs, maxPreparedStatements: MAX_PREPARED, trace: false };
  const setUp = setUpSql(Math.ceil(statementTimeoutMs / 1000) + 1);
  const servers = urls.map((each): Server => {
    const options = { ...mysqlPlace(each, 'database.url'), ...EXACT, ...limits };
    return { options, setUpSql: setUp, connectTimeoutMs, hasCausalReads: causalReads };
  });
  let flavour: Flavour = 'mariadb';
  const learn = (facts: ServerFacts): void => {
    ({ flavour } = facts);
  };
  return {
    hosts: hostsOf(url),
    hasEpochs: false,
    newConnection: (host) => new MysqlConnection(servers[host] as Server, learn),
    standing: standingOf,
    prepare: (session) => prepareSystemTables(session, flavour),
    preparesAfterLoss: false,
    flavour: () => flavour,
    classify,
    describe,
  };
}
