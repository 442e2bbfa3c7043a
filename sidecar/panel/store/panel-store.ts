import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { FORMAT, TABLES } from './tables.ts';

/**
 * `panel.sqlite`: accounts, sessions, settings, audit, charts, crashes. Small, so that it is read and written on the thread of
 * the panel. The panel's own process alone opens it.
 */
export type PanelStore = Database.Database;

/** How long another program (a backup, an editor of the file) is waited for. */
const BUSY_MS = 2000;

/** @throws Error with one line for the owner where it cannot be opened, or is newer than this program */
export function openPanelStore(file: string): PanelStore {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const isNew = !existsSync(file);
  const store = new Database(file, { timeout: BUSY_MS });
  try {
    if (isNew) chmodSync(file, 0o600);
    checkFormat(store, file);
    store.pragma('journal_mode = WAL');
    store.pragma('synchronous = FULL');
    store.pragma('foreign_keys = ON');
    store.exec(TABLES);
    store.pragma(`user_version = ${FORMAT}`);
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

function checkFormat(store: PanelStore, file: string): void {
  const format = store.pragma('user_version', { simple: true }) as number;
  if (format <= FORMAT) return;
  throw new Error(
    `panel.data: ${file} was written by a newer version (format ${format}; this one knows ${FORMAT}); use that version, or another file`,
  );
}
