import type pg from 'pg';
import { hostsOf, urlsOfHosts } from '#sidecar/server-url.ts';
import type { ServerSettings } from '../settings.ts';
import type { SqlDriver } from '../sql/pool/driver.ts';
import type { Standing } from '../sql/pool/host-choice.ts';
import type { SqlResult } from '../sql/session.ts';
import { PostgresConnection, StatementNames } from './connection.ts';
import { classify, describe } from './failures.ts';
import { prepareSystemTables } from './system-tables.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** If there is another host to try. */
const HOST_CONNECT_TIMEOUT_MS = 1500;

/**
 * Settings that a session must not inherit from the server, the database or the account. Statements end by our own
 * deadlines; the limits here only clean up after a sidecar that is gone or hangs.
 */
const SESSION_SETTINGS = {
  statement_timeout: '150000',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '60000',
  default_transaction_isolation: 'read\\ committed',
  default_transaction_deferrable: 'off',
  // An answered write is on the disk.
  synchronous_commit: 'on',
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  extra_float_digits: '1',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  array_nulls: 'on',
  quote_all_identifiers: 'off',
  plan_cache_mode: 'auto',
  // Compiling takes longer than statements of games run.
  jit: 'off',
} as const;

const AS_TEXT = { getTypeParser: () => (text: string) => text };

/** The driver `pg` below the pool. */
export function postgresDriver({ url }: ServerSettings): SqlDriver {
  const names = new StatementNames();
  const urls = urlsOfHosts(url);
  const timeoutMs = urls.length > 1 ? HOST_CONNECT_TIMEOUT_MS : CONNECT_TIMEOUT_MS;
  const configs = urls.map((each) => clientConfig(each, timeoutMs));
  return {
    hosts: hostsOf(url),
    hasEpochs: true,
    newConnection: (host) => new PostgresConnection(configs[host] as pg.ClientConfig, names),
    standing: (query) => standingOf(query, urls.length > 1),
    lacksStandby,
    prepare: prepareSystemTables,
    preparesAfterLoss: true,
    classify,
    describe,
  };
}

/** Number of the timeline, which every promotion of a standby raises. A primary writes to it. */
const TIMELINE = "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8";

async function standingOf(query: (text: string) => Promise<SqlResult>, hasOthers: boolean): Promise<Standing> {
  const { rows } = await query("SELECT pg_is_in_recovery(), current_setting('transaction_read_only')");
  if (rows[0]?.[0] === 't') return { obstacle: 'standby', epoch: 0 };
  const obstacle = rows[0]?.[1] === 'on' ? 'readOnly' : null;
  return { obstacle, epoch: hasOthers ? Number((await query(TIMELINE)).rows[0]?.[0]) : 0 };
}

/**
 * No row if no write waits for a standby. The state of a standby is null for an account without `pg_read_all_stats`, which
 * then sees only that one follows.
 */
const STANDBYS = `SELECT current_setting('synchronous_standby_names'),
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') OR sync_state IS NULL)
  WHERE current_setting('synchronous_standby_names') <> ''`;

/** Whether fewer standbys follow than must confirm a write, so that each write waits; false if that is not known for sure. */
async function lacksStandby(query: (text: string) => Promise<SqlResult>): Promise<boolean> {
  const { rows } = await query(STANDBYS);
  const [names, following] = rows[0] ?? [];
  return names !== undefined && Number(following) < neededStandbys(String(names));
}

/** Standbys that must confirm a write, by a setting that is not empty: `ANY 2 (a, b, c)`, `FIRST 1 (a, b)`, `2 (a, b)`, `a, b`. */
export function neededStandbys(synchronousStandbyNames: string): number {
  const [, count] = /^\s*(?:(?:any|first)\s+)?(\d+)\s*\(/i.exec(synchronousStandbyNames) ?? [];
  return Number(count ?? 1);
}

function clientConfig(url: string, connectionTimeoutMillis: number): pg.ClientConfig {
  const place = new URL(url);
  const own = Object.entries(SESSION_SETTINGS).map(([name, value]) => `-c ${name}=${value}`);
  // Options of the URL come first, so that ours win; left in the URL, they would replace ours.
  const options = [...place.searchParams.getAll('options'), ...own].join(' ');
  place.searchParams.delete('options');
  return {
    connectionString: place.href,
    options,
    application_name: 'game-server-database sidecar',
    connectionTimeoutMillis,
    keepAlive: true,
    types: AS_TEXT as unknown as pg.CustomTypesConfig,
  };
}
