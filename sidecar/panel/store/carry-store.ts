import Database from 'better-sqlite3';
import { checkFormat, openPanelStore, type PanelStore } from './panel-store.ts';

/** Tables of the machine that was: its processes, files and sessions. */
const LEFT_BEHIND = new Set(['sessions', 'server_run', 'install_switches', 'jobs', 'job_steps', 'uploads']);
const SEQUENCES = 'sqlite_sequence';

/**
 * A new `panel.sqlite` with the rows of another machine's. Only rows are taken: a trigger, view or rule of a foreign schema
 * could change them later.
 *
 * @throws Error with one line if the rows are not those of a panel
 */
export function carryStore(from: string, to: string): PanelStore {
  const old = new Database(from, { readonly: true, fileMustExist: true });
  try {
    old.pragma('trusted_schema = OFF');
    checkFormat(old, from);
    const store = openPanelStore(to);
    try {
      store.pragma('foreign_keys = OFF');
      store.transaction(() => {
        for (const table of tablesOf(store)) carryRows(old, store, table);
        if (isIn(old, SEQUENCES)) carrySequences(old, store);
      })();
      store.pragma('foreign_keys = ON');
      return store;
    } catch (error) {
      store.close();
      throw error;
    }
  } finally {
    old.close();
  }
}

function tablesOf(store: PanelStore): string[] {
  const names = store.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
  return names.filter((name) => name !== SEQUENCES && !LEFT_BEHIND.has(name));
}

/** A file of an earlier version may lack a table or a column. */
function carryRows(old: PanelStore, store: PanelStore, table: string): void {
  const theirs = new Set(columnsOf(old, table));
  const columns = columnsOf(store, table).filter((name) => theirs.has(name));
  if (columns.length === 0) return;
  const places = columns.map(() => '?').join(', ');
  const insert = store.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`);
  const rows = old
    .prepare(`SELECT ${columns.join(', ')} FROM ${table}`)
    .raw()
    .safeIntegers();
  for (const row of rows.iterate()) insert.run(...(row as unknown[]));
}

/** Ids of deleted accounts are not given again. */
function carrySequences(old: PanelStore, store: PanelStore): void {
  const clear = store.prepare(`DELETE FROM ${SEQUENCES} WHERE name = ?`);
  const write = store.prepare(`INSERT INTO ${SEQUENCES} (name, seq) VALUES (?, ?)`);
  for (const table of tablesOf(store)) {
    const seq = old.prepare(`SELECT max(seq) FROM ${SEQUENCES} WHERE name = ?`).pluck().safeIntegers().get(table);
    if (typeof seq !== 'bigint') continue;
    clear.run(table);
    write.run(table, seq);
  }
}

function columnsOf(store: PanelStore, table: string): string[] {
  return store.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table) as string[];
}

function isIn(store: PanelStore, table: string): boolean {
  return store.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined;
}

/** Whether the content of the other file is at fault, and not this machine. */
export function isForeignContent(error: unknown): boolean {
  if (error instanceof SyntaxError) return true;
  return error instanceof Database.SqliteError && /^SQLITE_(CONSTRAINT|MISMATCH|ERROR|CORRUPT|NOTADB)/.test(error.code);
}
