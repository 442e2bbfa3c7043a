import type { Database } from 'better-sqlite3';
import { UnusableDatabaseError } from '../model/failures.ts';
import { checkFormatVersion, FIRST_FORMAT_VERSION } from '../model/schema-text.ts';
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
  if (!TABLES.some(isMissing)) return;
  db.transaction(() => {
    for (const table of TABLES.filter(isMissing)) create(db, table);
  }).immediate();
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
