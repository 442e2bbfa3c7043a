import type { Database } from 'better-sqlite3';
import { UnusableDatabaseError } from '../model/failures.ts';
import { laterPlace, placesOfOwners } from '../model/queue-places.ts';
import { checkFormatVersion, FIRST_FORMAT_VERSION } from '../model/schema-text.ts';
import type { QueueRow } from '../queues.ts';
import type { SystemDialect, SystemTable } from '../sql/system-tables.ts';
import TABLES from './system-tables.json' with { type: 'json' };

/**
 * Compiled to system-tables.json by its test (`vitest -u`).
 * Why: knex, read at each start for eight statements, costs a tenth of the start's processor time.
 */
export const SQLITE_SYSTEM: SystemDialect = {
  client: 'better-sqlite3',
  key: () => 'TEXT',
  word: () => 'TEXT',
  text: 'TEXT',
  integer: 'INTEGER',
  flag: 'INTEGER',
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  options: (table) => (table === '_meta' ? ' WITHOUT ROWID' : ''),
  sharesIndexNames: true,
  keepsComments: false,
  storesPending: false,
};

/**
 * Creates the system tables in an empty file, or checks that this program knows the format of existing ones.
 * @throws UnusableDatabaseError for a file of a newer version or of another program; nothing is changed then.
 */
export function prepareSystemTables(db: Database): void {
  if (!hasTable(db, '_meta')) db.transaction(() => createAll(db)).immediate();
  checkFormatVersion(db.prepare("SELECT value FROM _meta WHERE name = 'format'").pluck().get(), 'file');
  const isMissing = ({ name, isYounger }: SystemTable): boolean => isYounger && !hasTable(db, name);
  if (!TABLES.some(isMissing) && !hasTable(db, '_queues')) return;
  db.transaction(() => {
    for (const table of TABLES.filter(isMissing)) create(db, table);
    if (hasTable(db, '_queues')) migrateQueues(db);
  }).immediate();
}

/** Databases of versions before 2026-12 have one owner a namespace. */
function migrateQueues(db: Database): void {
  const find = db.prepare(
    'SELECT namespace, journal, token, position, past FROM _journals WHERE namespace = ? AND journal = ?',
  );
  const put = db.prepare('INSERT OR REPLACE INTO _journals VALUES (@namespace, @journal, @token, @position, @past, 0)');
  const parsed = <T extends { readonly past: unknown }>(row: T) => ({ ...row, past: JSON.parse(String(row.past)) });
  for (const row of db.prepare('SELECT namespace, journal, token, position, past FROM _queues').all()) {
    for (const place of placesOfOwners(parsed(row as never))) {
      const known = find.get(place.namespace, place.journal);
      const next = known === undefined ? place : laterPlace(place, parsed(known as never) as QueueRow);
      put.run({ ...next, past: JSON.stringify(next.past) });
    }
  }
  db.exec('DROP TABLE _queues');
}

function createAll(db: Database): void {
  if (hasTable(db, '_meta')) return;
  if (db.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() !== undefined) {
    throw new UnusableDatabaseError('the file holds tables of another program; nothing was changed');
  }
  for (const table of TABLES) create(db, table);
  db.prepare("INSERT INTO _meta (name, value) VALUES ('format', ?)").run(String(FIRST_FORMAT_VERSION));
}

function create(db: Database, { createSql, index }: SystemTable): void {
  db.exec(createSql);
  if (index !== null) db.exec(index.sql);
}

function hasTable(db: Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}
