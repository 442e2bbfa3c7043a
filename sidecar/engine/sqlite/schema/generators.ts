import type { Database } from 'better-sqlite3';

/**
 * Generated ids are never given twice (contract section 5). While a table exists SQLite remembers its highest id in
 * `sqlite_sequence`; when its name becomes free, `_generators` does, for a table that is declared under it again.
 */
export function lastId(db: Database, physical: string): bigint {
  const last = db.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().safeIntegers().get(physical);
  return typeof last === 'bigint' ? last : 0n;
}

export function setLastId(db: Database, physical: string, last: bigint): void {
  const { changes } = db.prepare('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?').run(last, physical);
  if (changes === 0) db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(physical, last);
}

export function rememberLastId(db: Database, namespace: string, table: string, last: bigint): void {
  db.prepare(
    `INSERT INTO _generators (namespace, table_name, last_id) VALUES (?, ?, ?)
     ON CONFLICT (namespace, table_name) DO UPDATE SET last_id = max(last_id, excluded.last_id)`,
  ).run(namespace, table, last);
}

export function rememberedLastId(db: Database, namespace: string, table: string): bigint {
  const sql = 'SELECT last_id FROM _generators WHERE namespace = ? AND table_name = ?';
  const last = db.prepare(sql).pluck().safeIntegers().get(namespace, table);
  return typeof last === 'bigint' ? last : 0n;
}
