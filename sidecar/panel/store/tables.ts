/** What `panel.sqlite` holds, an area a section. The format has never been released: a change of it is made here. */
export const FORMAT = 1;

export const TABLES = `
-- settings: a value of the panel each, as JSON
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- bridge: tokens of other machines
CREATE TABLE IF NOT EXISTS bridge_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hash BLOB NOT NULL UNIQUE,
  created_at TEXT NOT NULL,
  last_used_at TEXT
) STRICT;
`;
