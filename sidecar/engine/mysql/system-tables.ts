import { UnusableDatabaseError } from '../model/failures.ts';
import { FIRST_FORMAT_VERSION, FORMAT_VERSION } from '../model/schema-text.ts';
import type { Session } from '../sql/session.ts';
import { quoted } from './names.ts';
import { tableOptions } from './schema/ddl.ts';
import type { Flavour } from './schema/types.ts';

/** By which a table of ours is told from one of another program that has the same name. */
const MARK = 'sidecar system table';

const EXPIRED_ROWS_AT_ONCE = 1000;
/** What is left then is removed next time. */
const PURGE_MARGIN_MS = 3000;

/** `_meta` comes last: where it is there with a version, the others are, but for those that are younger than the format. */
const SYSTEM_TABLES = {
  _schemas: `
    namespace VARCHAR(64) NOT NULL,
    revision BIGINT NOT NULL,
    hash VARCHAR(64) NOT NULL,
    \`schema\` LONGTEXT NOT NULL COMMENT 'JSON text of the normalised schema',
    updated_at VARCHAR(32) NOT NULL COMMENT 'ISO 8601 UTC',
    pending LONGTEXT NULL COMMENT 'JSON text of a change that is under way or was cut off',
    PRIMARY KEY (namespace)`,
  _idempotency: `
    kid VARCHAR(64) NOT NULL,
    namespace VARCHAR(64) NOT NULL,
    \`key\` VARCHAR(255) NOT NULL,
    fingerprint VARCHAR(64) NOT NULL,
    result LONGTEXT NOT NULL,
    expires_at BIGINT NOT NULL COMMENT 'epoch milliseconds',
    PRIMARY KEY (kid, namespace, \`key\`),
    INDEX by_expiry (expires_at)`,
  _quarantine: `
    id BIGINT NOT NULL AUTO_INCREMENT,
    namespace VARCHAR(64) NOT NULL,
    kind VARCHAR(16) NOT NULL COMMENT 'table or column',
    table_name VARCHAR(64) NOT NULL COMMENT 'declared name',
    column_name VARCHAR(64) NULL COMMENT 'declared name, NULL for a table',
    physical_name VARCHAR(64) NOT NULL COMMENT 'of the kept table',
    definition LONGTEXT NOT NULL COMMENT 'JSON text of the table or column as it was declared',
    row_count BIGINT NOT NULL,
    quarantined_at VARCHAR(32) NOT NULL COMMENT 'ISO 8601 UTC',
    PRIMARY KEY (id)`,
  _locks: `
    namespace VARCHAR(64) NOT NULL,
    owner VARCHAR(400) NOT NULL,
    renewed_at BIGINT NOT NULL COMMENT 'epoch milliseconds',
    PRIMARY KEY (namespace)`,
  _generators: `
    namespace VARCHAR(64) NOT NULL,
    table_name VARCHAR(64) NOT NULL COMMENT 'declared name',
    last_id BIGINT NOT NULL COMMENT 'highest id ever given; survives the table',
    PRIMARY KEY (namespace, table_name)`,
  _queues: `
    namespace VARCHAR(64) NOT NULL,
    journal VARCHAR(64) NULL COMMENT 'id of the owner''s journal',
    token BIGINT NOT NULL COMMENT 'fencing token, grows with every owner',
    \`position\` BIGINT NOT NULL COMMENT 'of the last entry applied under the token',
    past LONGTEXT NOT NULL COMMENT 'JSON text of the earlier owners',
    PRIMARY KEY (namespace)`,
  _dead_letters: `
    id VARCHAR(100) NOT NULL,
    namespace VARCHAR(64) NOT NULL,
    kid VARCHAR(64) NOT NULL,
    op VARCHAR(64) NOT NULL,
    payload LONGTEXT NOT NULL COMMENT 'JSON text',
    code VARCHAR(64) NOT NULL,
    message LONGTEXT NOT NULL,
    \`time\` BIGINT NOT NULL COMMENT 'of the acknowledgement, epoch milliseconds',
    is_retry_wanted TINYINT NOT NULL,
    PRIMARY KEY (id),
    INDEX to_retry (namespace, is_retry_wanted)`,
  _meta: `
    name VARCHAR(255) NOT NULL,
    value MEDIUMTEXT NOT NULL,
    PRIMARY KEY (name)`,
} as const;

/**
 * Creates the system tables in a database, or checks that those of it are known. Tables of other programs may stand
 * beside them. May run in several sidecars at once, and again after a crash.
 * @throws UnusableDatabaseError where a table of another program has one of the names, or the format is newer; nothing
 * is changed then. Errors of the driver are passed on.
 */
export async function prepareSystemTables(session: Session, flavour: Flavour): Promise<void> {
  const made = await madeTables(session);
  if (made.has('_meta')) await checkFormatVersion(session);
  for (const [name, columns] of Object.entries(SYSTEM_TABLES)) {
    if (made.has(name)) continue;
    await session.query(
      `CREATE TABLE IF NOT EXISTS ${quoted(name)} (${columns}) ${tableOptions(flavour)} COMMENT='${MARK}'`,
    );
  }
  if (made.has('_meta')) return;
  await session.query('INSERT IGNORE INTO _meta (name, value) VALUES (?, ?)', ['format', String(FIRST_FORMAT_VERSION)]);
  await checkFormatVersion(session);
}

/** Of ours, those that are there. One by one: a question about several makes MariaDB open every table of the database. */
async function madeTables(session: Session): Promise<Set<string>> {
  const sql = 'SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?';
  const made = new Set<string>();
  for (const name of Object.keys(SYSTEM_TABLES)) {
    const [row] = (await session.query(sql, [name])).rows;
    if (row === undefined) continue;
    if (row[0] !== MARK) {
      throw new UnusableDatabaseError(
        `the database has a table ${name} of another program, a name that the sidecar needs: rename it, or give the sidecar a database of its own; nothing was changed`,
      );
    }
    made.add(name);
  }
  return made;
}

async function checkFormatVersion(session: Session): Promise<void> {
  const { rows } = await session.query("SELECT value FROM _meta WHERE name = 'format'");
  // Between the making of the table and that of its row a crash may lie.
  if (rows.length === 0) {
    await session.query('INSERT IGNORE INTO _meta (name, value) VALUES (?, ?)', [
      'format',
      String(FIRST_FORMAT_VERSION),
    ]);
    return;
  }
  const version = Number(rows[0]?.[0]);
  if (!Number.isSafeInteger(version) || version < 1) {
    throw new UnusableDatabaseError('the database has no readable format version; nothing was changed');
  }
  if (version > FORMAT_VERSION) {
    throw new UnusableDatabaseError(
      `the database has format version ${version}, and this program knows ${FORMAT_VERSION}: use a newer sidecar; nothing was changed`,
    );
  }
}

/** Removes results of requests that need not be remembered any more, few enough at once to be in nobody's way. */
export async function purgeExpired(session: Session, now: number): Promise<void> {
  const sql = `DELETE FROM _idempotency WHERE expires_at <= ? LIMIT ${EXPIRED_ROWS_AT_ONCE}`;
  const until = session.deadline - PURGE_MARGIN_MS;
  for (let affected = EXPIRED_ROWS_AT_ONCE; affected === EXPIRED_ROWS_AT_ONCE && performance.now() < until; ) {
    ({ affected } = await session.query(sql, [BigInt(now)]));
  }
}
