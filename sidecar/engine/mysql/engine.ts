import type { Capabilities, Engine, EngineOptions, WriteObstacle } from '../engine.ts';
import type { ServerSettings } from '../settings.ts';
import { SqlEngine, type SqlProvider } from '../sql/engine.ts';
import type { Session } from '../sql/session.ts';
import { MYSQL_BATCH, MYSQL_QUEUES } from './batch.ts';
import { mysqlDriver } from './connection.ts';
import { compileFind } from './dialect.ts';
import { createSchemaCalls } from './schema/calls.ts';
import { refuseStale } from './schema/store.ts';
import { purgeExpired } from './system-tables.ts';
import { explained, runWrite } from './write.ts';

const CAPABILITIES: Capabilities = {
  transactionalSchema: false,
  transactions: true,
  filterableJson: true,
  snapshots: true,
};

/** A node of Galera that has lost its cluster answers these questions and refuses everything else. */
async function obstacle(session: Session): Promise<WriteObstacle | null> {
  const settings = await session.query("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'wsrep_on')");
  const values = new Map(settings.rows.map(([name, value]) => [String(name), String(value)]));
  if (values.get('wsrep_on') === 'ON') {
    const { rows } = await session.query("SHOW GLOBAL STATUS LIKE 'wsrep_ready'");
    if (rows[0]?.[1] === 'OFF') return 'notReady';
  }
  return values.get('read_only') === 'OFF' ? null : 'readOnly';
}

/** MySQL 8.0.17 and newer, MariaDB 10.5 and newer: see `SqlEngine.open`. */
export async function openMysql(settings: ServerSettings, options: EngineOptions): Promise<Engine> {
  const driver = mysqlDriver(settings);
  const { host, pathname } = new URL(settings.url);
  const mysql: SqlProvider = {
    provider: 'mysql',
    capabilities: CAPABILITIES,
    label: `database mysql://${host}${pathname}`,
    driver,
    batches: MYSQL_BATCH,
    queues: MYSQL_QUEUES,
    beginSnapshot: [
      'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
      'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
    ],
    factsSql: `SELECT IF(LOWER(VERSION()) LIKE '%mariadb%', VERSION(), CONCAT('MySQL ', VERSION())),
      CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS CHAR)`,
    obstacle,
    sizes: (names) => ({
      sql: `SELECT table_name, table_rows, data_length + index_length FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name IN (${names.map(() => '?').join(', ')})`,
      params: names,
    }),
    compileFind: (reads, target, query) => compileFind(reads, target, query, driver.flavour()),
    write: runWrite,
    purgeExpired,
    calls: (sessions, log) => ({
      ...createSchemaCalls({ sessions, flavour: driver.flavour, log }),
    }),
    halfDone: { explain: explained, refuseStale },
  };
  return SqlEngine.open(mysql, settings.poolSize, options);
}
