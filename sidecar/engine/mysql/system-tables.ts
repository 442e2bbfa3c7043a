import { UnusableDatabaseError } from '../model/failures.ts';
import { checkFormatVersion, FIRST_FORMAT_VERSION } from '../model/schema-text.ts';
import type { IdempotencySlot } from '../rows.ts';
import { bringOwnedQueues } from '../sql/queue/owned-queues.ts';
import { SchemaConnection } from '../sql/schema/connection.ts';
import type { Session } from '../sql/session.ts';
import { SlotTakenError } from '../sql/slots.ts';
import { type SystemTable, systemTables } from '../sql/system-tables.ts';
import { DUPLICATE_ENTRY, errnoOf } from './failures.ts';
import { tableOptions } from './schema/ddl.ts';
import { schemaDialect } from './schema/dialect.ts';
import type { Flavour } from './schema/types.ts';

/** Distinguishes a table of ours from another program's with the same name. */
const MARK = 'sidecar system table';

const MAX_VARCHAR = 16_383;

const EXPIRED_ROWS_AT_ONCE = 1000;
/** Records that are left then are removed next time. */
const PURGE_MARGIN_MS = 3000;

/** A table or index that is there already: another sidecar has made it in the meantime. */
const ALREADY_MADE: ReadonlySet<number> = new Set([1050, 1061]);

function tablesOf(flavour: Flavour): SystemTable[] {
  return systemTables({
    client: 'mysql2',
    key: (length) => `VARCHAR(${length})`,
    word: (length) => (length > MAX_VARCHAR ? 'MEDIUMTEXT' : `VARCHAR(${length})`),
    text: 'LONGTEXT',
    integer: 'BIGINT',
    flag: 'TINYINT',
    id: 'BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY',
    options: () => ` ${tableOptions(flavour)} COMMENT='${MARK}'`,
    sharesIndexNames: false,
    keepsComments: true,
    storesPending: true,
  });
}

/**
 * Creates the system tables in a database, or checks that those of it are known. Tables of other programs may exist
 * beside them. May run in several sidecars at once, and again after a crash.
 * @throws UnusableDatabaseError if a table of another program has one of the names, or the format is newer; nothing
 * is changed then. Errors of the driver are passed on.
 */
export async function prepareSystemTables(session: Session, flavour: Flavour): Promise<void> {
  const tables = tablesOf(flavour);
  const made = await madeTables(session, tables);
  if (made.has('_meta')) await checkFormat(session);
  for (const { name, createSql, index } of tables) {
    if (!made.has(name)) await make(session, createSql);
    if (index !== null && !(made.has(name) && (await hasIndex(session, name, index.name))))
      await make(session, index.sql);
  }
  if (!made.has('_meta')) await checkFormat(session);
  await migrateQueues(session, flavour);
}

const OLD_QUEUES = '_queues';
/** Under this name no sidecar of an older version applies anything while its rows are read. */
const TAKEN_QUEUES = '_queues_taken';
const NO_SUCH_TABLE = 1146;

/** Databases of versions before 2026-12 have one owner a namespace. A crash may have cut this off at any point. */
async function migrateQueues(session: Session, flavour: Flavour): Promise<void> {
  await bringTaken(session, flavour);
  if (!(await isOurs(session, OLD_QUEUES))) return;
  await unlessGone(session.query(`RENAME TABLE ${OLD_QUEUES} TO ${TAKEN_QUEUES}`));
  await bringTaken(session, flavour);
}

async function bringTaken(session: Session, flavour: Flavour): Promise<void> {
  if (!(await isOurs(session, TAKEN_QUEUES))) return;
  await session.query('START TRANSACTION');
  try {
    await unlessGone(bringOwnedQueues(new SchemaConnection(session, schemaDialect(flavour)), TAKEN_QUEUES));
    await session.query('COMMIT');
  } catch (error) {
    await session.query('ROLLBACK');
    throw error;
  }
  await session.query(`DROP TABLE IF EXISTS ${TAKEN_QUEUES}`);
}

async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    // Another sidecar was first.
    if (errnoOf(error) !== NO_SUCH_TABLE) throw error;
  }
}

async function isOurs(session: Session, table: string): Promise<boolean> {
  return (await commentOf(session, table)) === MARK;
}

async function commentOf(session: Session, table: string): Promise<unknown> {
  const sql = 'SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?';
  return (await session.query(sql, [table])).rows[0]?.[0];
}

async function make(session: Session, sql: string): Promise<void> {
  try {
    await session.query(sql);
  } catch (error) {
    if (!ALREADY_MADE.has(errnoOf(error) ?? 0)) throw error;
  }
}

/** A crash may have cut off the index of a table. */
async function hasIndex(session: Session, table: string, index: string): Promise<boolean> {
  const sql = `SELECT 1 FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ? LIMIT 1`;
  return (await session.query(sql, [table, index])).rows.length > 0;
}

/** Names of the tables that exist. One by one: a question about several makes MariaDB open every table of the database. */
async function madeTables(session: Session, tables: readonly SystemTable[]): Promise<Set<string>> {
  const made = new Set<string>();
  for (const { name } of tables) {
    const comment = await commentOf(session, name);
    if (comment === undefined) continue;
    if (comment !== MARK) {
      throw new UnusableDatabaseError(
        `the database has a table ${name} of another program, a name that the sidecar needs: rename it, or give the sidecar a database of its own; nothing was changed`,
      );
    }
    made.add(name);
  }
  return made;
}

async function checkFormat(session: Session): Promise<void> {
  const { rows } = await session.query("SELECT value FROM _meta WHERE name = 'format'");
  if (rows.length > 0) return checkFormatVersion(rows[0]?.[0], 'database');
  // A crash may have cut off the row of the table.
  const insert = 'INSERT IGNORE INTO _meta (name, value) VALUES (?, ?)';
  await session.query(insert, ['format', String(FIRST_FORMAT_VERSION)]);
}

/** Removes expired idempotency records, few enough at once to block no other write. */
export async function purgeExpired(session: Session, now: number): Promise<void> {
  const sql = `DELETE FROM _idempotency WHERE expires_at <= ? LIMIT ${EXPIRED_ROWS_AT_ONCE}`;
  const until = session.deadline - PURGE_MARGIN_MS;
  for (let affected = EXPIRED_ROWS_AT_ONCE; affected === EXPIRED_ROWS_AT_ONCE && performance.now() < until; ) {
    ({ affected } = await session.query(sql, [BigInt(now)]));
  }
}

/** Keeps the record of a slot, whose result is an expression of SQL. */
export function recordSql(result: string): string {
  return `INSERT INTO _idempotency (kid, namespace, \`key\`, fingerprint, result, expires_at) VALUES (?, ?, ?, ?, ${result}, ?)`;
}

const REMEMBER = recordSql('?');
const FORGET = 'DELETE FROM _idempotency WHERE kid = ? AND namespace = ? AND `key` = ? AND expires_at <= ?';

/**
 * Last in the transaction of its write. Waits for a running twin. An expired record is replaced.
 * @throws SlotTakenError if there is a record already
 */
export async function remember(session: Session, slot: IdempotencySlot, result: string): Promise<void> {
  const { kid, namespace, key, fingerprint, now, expiresAt } = slot;
  const row = [kid, namespace, key, fingerprint, result, BigInt(expiresAt)];
  try {
    await session.prepared(REMEMBER, row);
    return;
  } catch (error) {
    if (errnoOf(error) !== DUPLICATE_ENTRY) throw error;
  }
  const { affected } = await session.prepared(FORGET, [kid, namespace, key, BigInt(now)]);
  if (affected === 0) throw new SlotTakenError();
  await session.prepared(REMEMBER, row);
}
