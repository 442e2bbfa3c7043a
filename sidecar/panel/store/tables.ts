/** Tables of `panel.sqlite`, by area. The format was never released, so it is changed here in place. */
export const FORMAT = 1;

export const TABLES = `
-- settings: a value of the panel each, as JSON
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
-- settings: what the last save of the server's configuration replaced, as JSON
CREATE TABLE IF NOT EXISTS config_undo (id INTEGER PRIMARY KEY CHECK (id = 1), undo TEXT NOT NULL) STRICT;

-- bridge: tokens of other machines
CREATE TABLE IF NOT EXISTS bridge_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  last_used_at TEXT
) STRICT;
-- accounts: ids are never given twice, so that nothing of a deleted account is found by a new one
CREATE TABLE IF NOT EXISTS accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE,
  password TEXT NOT NULL,
  permissions TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  locale TEXT
) STRICT;

-- sessions: the SHA-256 of the token, never the token
CREATE TABLE IF NOT EXISTS sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token_hash BLOB NOT NULL UNIQUE,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS sessions_of_account ON sessions (account_id);

-- tokens: the SHA-256 of each, never the token
CREATE TABLE IF NOT EXISTS tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  hash BLOB NOT NULL UNIQUE,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  permissions TEXT NOT NULL,
  addresses TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  last_address TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS tokens_of_account ON tokens (account_id);

-- second factor: secrets are encrypted with the key of secrets/panel.key; a step is accepted once
CREATE TABLE IF NOT EXISTS second_factors (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  secret BLOB NOT NULL,
  last_step INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
-- second factor: keyed hashes of recovery codes that were not used yet
CREATE TABLE IF NOT EXISTS recovery_codes (
  account_id INTEGER NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  hash BLOB NOT NULL,
  PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

-- audit: who did what, when, from where, with what result
CREATE TABLE IF NOT EXISTS audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  time INTEGER NOT NULL,
  username TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  address TEXT NOT NULL,
  result TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS audit_of_result ON audit (result = 'ok', id);
CREATE INDEX IF NOT EXISTS audit_of_person ON audit (username, id);
CREATE INDEX IF NOT EXISTS audit_of_one ON audit (username, action, result = 'ok', id);

-- audit: values before and after, as JSON
CREATE TABLE IF NOT EXISTS audit_changes (
  id INTEGER PRIMARY KEY REFERENCES audit (id) ON DELETE CASCADE,
  changes TEXT NOT NULL
) STRICT;

-- audit: names of the tokens that entries were made with
CREATE TABLE IF NOT EXISTS audit_tokens (
  id INTEGER PRIMARY KEY REFERENCES audit (id) ON DELETE CASCADE,
  token TEXT NOT NULL
) STRICT;

-- server: which process is the game server, while one runs; its last crashes; what lay there when it last ran well
CREATE TABLE IF NOT EXISTS server_run (
  id INTEGER PRIMARY KEY CHECK (id = 1), pid INTEGER NOT NULL, mark TEXT, run TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS crashes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, summary TEXT NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS server_good_run (id INTEGER PRIMARY KEY CHECK (id = 1), contents TEXT NOT NULL) STRICT;
-- bundles: tags beside those of the manifests, as JSON
CREATE TABLE IF NOT EXISTS bundle_tags (name TEXT PRIMARY KEY, tags TEXT NOT NULL) STRICT;
-- bundles: deleted ones, whose folders lie in .panel/trash
CREATE TABLE IF NOT EXISTS trash (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, state TEXT NOT NULL, record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- sources: reviews of changes, as JSON
CREATE TABLE IF NOT EXISTS reviews (
  id INTEGER PRIMARY KEY AUTOINCREMENT, project TEXT NOT NULL, is_open INTEGER NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS reviews_of_project ON reviews (project, id);
-- keys of the API: when and from where each was used last
CREATE TABLE IF NOT EXISTS key_use (kid TEXT PRIMARY KEY, used_at INTEGER NOT NULL, address TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- jobs: long work of accounts, as JSON; a step is written before it is taken
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, queued_at INTEGER NOT NULL, is_ended INTEGER NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS job_steps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS steps_of_job ON job_steps (job_id, id);

-- sources: accounts at other servers; a token is encrypted with the key of secrets/accounts.key
CREATE TABLE IF NOT EXISTS source_accounts (
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  url TEXT NOT NULL,
  username TEXT NOT NULL,
  token BLOB,
  refused_since TEXT
) STRICT, WITHOUT ROWID;

-- uploads: inspected archives, as JSON; their files are in data/bundle-tools/uploads
CREATE TABLE IF NOT EXISTS uploads (
  id TEXT PRIMARY KEY, account_id INTEGER NOT NULL, at INTEGER NOT NULL, bytes INTEGER NOT NULL, inspected TEXT NOT NULL
) STRICT;

-- installs: bundles on their way, and those whose start has not proven them yet, as JSON; a row is the intent of its renames
CREATE TABLE IF NOT EXISTS install_switches (
  number INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT NOT NULL UNIQUE, phase TEXT NOT NULL, record TEXT NOT NULL
) STRICT;
-- installs: versions of bundles, as JSON; the hashes of the files as they were put in place, packed
CREATE TABLE IF NOT EXISTS bundle_versions (
  bundle TEXT NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL, files BLOB,
  PRIMARY KEY (bundle, number)
) STRICT, WITHOUT ROWID;
-- updates: ends of changes of the release, as the keeper has told them
CREATE TABLE IF NOT EXISTS updates (
  id INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT NOT NULL, outcome TEXT NOT NULL, record TEXT NOT NULL,
  UNIQUE (job_id, outcome)
) STRICT;

-- sources: projects as JSON, and removed ones until they are removed for good
CREATE TABLE IF NOT EXISTS source_projects (name TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS source_trash (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, by TEXT NOT NULL, record TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- schedule: entries as JSON; occurrences by their instant (epoch milliseconds) once done, skipped or missed
CREATE TABLE IF NOT EXISTS schedule_entries (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS schedule_runs (
  entry TEXT NOT NULL, at INTEGER NOT NULL, result TEXT NOT NULL, PRIMARY KEY (entry, at)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS schedule_clock (id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL) STRICT;

-- notices: targets as JSON, their URLs and secrets encrypted with the key of secrets/panel.key
CREATE TABLE IF NOT EXISTS notice_targets (
  id TEXT PRIMARY KEY, record TEXT NOT NULL, secrets BLOB NOT NULL
) STRICT, WITHOUT ROWID;
-- the release of the last notice of one
CREATE TABLE IF NOT EXISTS notice_release (id INTEGER PRIMARY KEY CHECK (id = 1), version TEXT NOT NULL) STRICT;

-- charts: samples of 10, 60 and 600 seconds (time in epoch seconds), and marks (epoch milliseconds)
CREATE TABLE IF NOT EXISTS chart_samples (
  step INTEGER NOT NULL,
  time INTEGER NOT NULL,
  serverProcessor REAL,
  serverMemory REAL,
  sidecarProcessor REAL,
  sidecarMemory REAL,
  calls REAL,
  failures REAL,
  latencyP50 REAL,
  latencyP99 REAL,
  players REAL,
  PRIMARY KEY (step, time)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chart_marks (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL) STRICT;
`;
