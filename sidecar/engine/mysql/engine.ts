import { MAX_DECIMAL_PRECISION } from '#protocol/limits.ts';
import { urlsOfHosts } from '#sidecar/server-url.ts';
import type { Capabilities, Engine, EngineOptions } from '../engine.ts';
import type { ServerSettings } from '../settings.ts';
import { SqlEngine, type SqlProvider } from '../sql/engine.ts';
import { MYSQL_BATCH, MYSQL_QUEUES } from './batch.ts';
import { compileFind } from './dialect.ts';
import { type MysqlDriver, mysqlDriver } from './driver.ts';
import { createSchemaCalls } from './schema/calls.ts';
import { refuseStale } from './schema/store.ts';
import { purgeExpired } from './system-tables.ts';
import { CompoundWrites } from './write/compound-write.ts';
import { explained, runWrite } from './write.ts';

/** MySQL takes no more; MariaDB takes 38. */
const MYSQL_MAX_SCALE = 30;

function capabilitiesOf(driver: MysqlDriver): Capabilities {
  return {
    transactionalSchema: false,
    transactions: true,
    filterableJson: true,
    snapshots: true,
    get maxDecimalScale() {
      return driver.flavour() === 'mysql' ? MYSQL_MAX_SCALE : MAX_DECIMAL_PRECISION;
    },
  };
}

/** MySQL 8.0.17 and newer, MariaDB 10.5 and newer: see `SqlEngine.open`. */
export async function openMysql(settings: ServerSettings, options: EngineOptions): Promise<Engine> {
  const driver = mysqlDriver(settings);
  const compounds = new CompoundWrites();
  const { pathname } = new URL(urlsOfHosts(settings.url)[0] ?? settings.url);
  const mysql: SqlProvider = {
    provider: 'mysql',
    capabilities: capabilitiesOf(driver),
    label: `database mysql://${driver.hosts.join(',')}${pathname}`,
    driver,
    batches: MYSQL_BATCH,
    queues: MYSQL_QUEUES,
    beginSnapshot: [
      'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
      'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
    ],
    factsSql: `SELECT IF(LOWER(VERSION()) LIKE '%mariadb%', VERSION(), CONCAT('MySQL ', VERSION())),
      CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS CHAR)`,
    sizes: (names) => ({
      sql: `SELECT table_name, table_rows, data_length + index_length FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name IN (${names.map(() => '?').join(', ')})`,
      params: names,
    }),
    compileFind: (reads, target, query) => compileFind(reads, target, query, driver.flavour()),
    write: (sessions, call, bounds) =>
      driver.flavour() === 'mariadb' ? compounds.run(sessions, call, bounds) : runWrite(sessions, call, bounds),
    purgeExpired,
    calls: (sessions, leases, log) => createSchemaCalls({ sessions, leases, flavour: driver.flavour, log }),
    halfDone: { explain: explained, refuseStale },
  };
  return SqlEngine.open(mysql, settings.poolSize, options);
}
