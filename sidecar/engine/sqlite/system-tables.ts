import type { Database } from 'better-sqlite3';
import { UnusableDatabaseError } from '../model/failures.ts';
import { FIRST_FORMAT_VERSION, FORMAT_VERSION } from '../model/schema-text.ts';

const SYSTEM_TABLES = `
  CREATE TABLE _meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE _schemas (
    namespace TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    hash TEXT NOT NULL,
    schema TEXT NOT NULL,      -- JSON text of the normalised schema
    updated_at TEXT NOT NULL   -- ISO 8601 UTC
  );
  CREATE TABLE _idempotency (
    kid TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    result TEXT NOT NULL,
    expires_at INTEGER NOT NULL, -- epoch milliseconds
    PRIMARY KEY (kid, namespace, key)
  );
  CREATE INDEX _idempotency_by_expiry ON _idempotency (expires_at);
  CREATE TABLE _quarantine (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    kind TEXT NOT NULL,          -- 'table' or 'column'
    table_name TEXT NOT NULL,    -- declared name
    column_name TEXT,            -- declared name, null for a table
    physical_name TEXT NOT NULL, -- of the kept table
    definition TEXT NOT NULL,    -- JSON text of the table or column as it was declared
    row_count INTEGER NOT NULL,
    quarantined_at TEXT NOT NULL -- ISO 8601 UTC
  );
  CREATE TABLE _locks (
    namespace TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    renewed_at INTEGER NOT NULL  -- epoch milliseconds
  );
  CREATE TABLE _generators (
    namespace TEXT NOT NULL,
    table_name TEXT NOT NULL,    -- declared name
    last_id INTEGER NOT NULL,    -- highest id ever given; survives the table (sqlite_sequence does not)
    PRIMARY KEY (namespace, table_name)
  );
`;

/** Younger than the others of the same format: a file that has those may lack these. */
const QUEUE_TABLES = `
  CREATE TABLE IF NOT EXISTS _queues (
    namespace TEXT PRIMARY KEY,
    journal TEXT,                -- id of the owner's journal
    token INTEGER NOT NULL,      -- fencing token, grows with every owner
    position INTEGER NOT NULL,   -- of the last entry applied under the token
    past TEXT NOT NULL           -- JSON text of the earlier owners
  );
  CREATE TABLE IF NOT EXISTS _dead_letters (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    kid TEXT NOT NULL,
    op TEXT NOT NULL,
    payload TEXT NOT NULL,       -- JSON text
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    time INTEGER NOT NULL,       -- of the acknowledgement, epoch milliseconds
    is_retry_wanted INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS _dead_letters_to_retry ON _dead_letters (namespace, is_retry_wanted);
`;

/**
 * Creates the system tables in an empty file, or checks that those of an existing one are known.
 * @throws UnusableDatabaseError for a file of a newer version or of another program; nothing is changed then.
 */
export function prepareSystemTables(db: Database): void {
  if (!hasTable(db, '_meta')) createSystemTables(db);
  checkFormatVersion(db);
  if (!hasTable(db, '_dead_letters')) db.transaction(() => db.exec(QUEUE_TABLES)).immediate();
}

function createSystemTables(db: Database): void {
  db.transaction(() => {
    if (hasTable(db, '_meta')) return;
    if (db.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() !== undefined) {
      throw new UnusableDatabaseError('the file holds tables of another program; nothing was changed');
    }
    db.exec(SYSTEM_TABLES);
    db.prepare("INSERT INTO _meta (name, value) VALUES ('format', ?)").run(String(FIRST_FORMAT_VERSION));
  }).immediate();
}

function hasTable(db: Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

function checkFormatVersion(db: Database): void {
  const version = Number(db.prepare("SELECT value FROM _meta WHERE name = 'format'").pluck().get());
  if (!Number.isSafeInteger(version) || version < 1) {
    throw new UnusableDatabaseError('the file has no readable format version; nothing was changed');
  }
  if (version > FORMAT_VERSION) {
    throw new UnusableDatabaseError(
      `the file has format version ${version}, and this program knows ${FORMAT_VERSION}: use a newer sidecar; nothing was changed`,
    );
  }
}
