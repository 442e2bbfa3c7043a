import { MAX_DECIMAL_PRECISION } from '#protocol/limits.ts';
import type { Capabilities, Engine, EngineOptions } from '../engine.ts';
import type { ServerSettings } from '../settings.ts';
import { SqlEngine, type SqlProvider } from '../sql/engine.ts';
import { createSchemaCalls } from '../sql/schema/calls.ts';
import { createTransactionalTransfer } from '../sql/transfer.ts';
import { POSTGRES_BATCH, POSTGRES_QUEUES } from './batch.ts';
import { arrayLiteral } from './dialect.ts';
import { postgresDriver } from './driver.ts';
import { POSTGRES_SCHEMA } from './schema/dialect.ts';
import { purgeExpired } from './system-tables.ts';
import { runWrite } from './write.ts';

const CAPABILITIES: Capabilities = {
  transactionalSchema: true,
  transactions: true,
  filterableJson: true,
  snapshots: true,
  maxDecimalScale: MAX_DECIMAL_PRECISION,
};

const POSTGRES: Omit<SqlProvider, 'driver'> = {
  provider: 'postgres',
  capabilities: CAPABILITIES,
  label: 'database',
  batches: POSTGRES_BATCH,
  queues: POSTGRES_QUEUES,
  beginSnapshot: [
    'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY',
    // Between two pages the other database may take its time.
    'SET LOCAL idle_in_transaction_session_timeout = 0',
    // The first statement takes the view.
    'SELECT 1 FROM _meta LIMIT 1',
  ],
  factsSql: `SELECT 'PostgreSQL ' || current_setting('server_version'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint`,
  // `reltuples` is -1 if the table was never analysed.
  sizes: (names) => ({
    sql: `SELECT relname, NULLIF(reltuples::bigint, -1), pg_total_relation_size(oid) FROM pg_class
      WHERE relname = ANY($1) AND relkind = 'r' AND pg_table_is_visible(oid)`,
    params: [arrayLiteral(names)],
  }),
  compileFind: (reads, target, query) => reads.find(target, query),
  write: runWrite,
  purgeExpired,
  calls: (sessions) => ({
    schemas: createSchemaCalls(sessions, POSTGRES_SCHEMA),
    transfer: createTransactionalTransfer(sessions, POSTGRES_SCHEMA),
  }),
};

/** PostgreSQL 13 and newer: see `SqlEngine.open`. */
export function openPostgres(settings: ServerSettings, options: EngineOptions): Promise<Engine> {
  return SqlEngine.open({ ...POSTGRES, driver: postgresDriver(settings) }, settings.poolSize, options);
}
