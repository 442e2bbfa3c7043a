import { chmodSync, existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { type FolderLock, lockFolder } from '#sidecar/folder-lock.ts';
import { makeFolder } from '#sidecar/make-folder.ts';
import { storeFaultOf } from './store-fault.ts';
import { FORMAT, TABLES } from './tables.ts';

/**
 * `panel.sqlite`: accounts, sessions, settings, audit, charts, crashes. Small, so it is read and written on the panel's
 * thread. Only the panel's own process opens it.
 */
export type PanelStore = Database.Database;

/** Wait for another program (a backup, an editor of the file) before anything is served. */
const OPENING_BUSY_MS = 2000;

/** @throws StoreFault if it is locked, damaged or cannot be written; Error with one line if it is newer than this program */
export function openPanelStore(file: string): PanelStore {
  try {
    return open(file);
  } catch (error) {
    throw storeFaultOf(error, file) ?? error;
  }
}

function open(file: string): PanelStore {
  makeFolder(dirname(file));
  const isNew = !existsSync(file);
  const store = new Database(file, { timeout: OPENING_BUSY_MS });
  try {
    if (isNew) chmodSync(file, 0o600);
    const format = checkFormat(store, file);
    if (!isNew) checkWhole(store);
    store.pragma('journal_mode = WAL');
    store.pragma('synchronous = FULL');
    store.pragma('foreign_keys = ON');
    store.exec(TABLES);
    if (format !== FORMAT) store.pragma(`user_version = ${FORMAT}`);
    return store;
  } catch (error) {
    store.close();
    throw error;
  }
}

/** Checked at the start, so that a damaged file is not found by the first page that reads it. */
function checkWhole(store: PanelStore): void {
  const found = store.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new Database.SqliteError(String(found), 'SQLITE_CORRUPT');
}

/** Returns the format of the file. */
export function checkFormat(store: PanelStore, file: string): number {
  const format = store.pragma('user_version', { simple: true }) as number;
  if (format <= FORMAT) return format;
  throw new Error(
    `panel.data: ${file} was written by a newer version (format ${format}; this one knows ${FORMAT}); use that version, or another file`,
  );
}

function claimOf(file: string): string {
  return `${basename(file)}-owner`;
}

/** Whether a sidecar that runs has locked `panel.sqlite`. */
export async function isStoreClaimed(file: string): Promise<boolean> {
  if (!existsSync(join(dirname(file), claimOf(file)))) return false;
  const lock = await lockFolder(dirname(file), claimOf(file));
  lock?.release();
  return lock === null;
}

/**
 * Locks `panel.sqlite` for this process: a second panel would take the game server of the first for one that a dead process
 * has left, and end it. The system frees the lock with the process, however that ends.
 *
 * @throws Error with one line for the owner if another process has the lock
 */
export async function claimStore(file: string): Promise<FolderLock> {
  makeFolder(dirname(file));
  const lock = await lockFolder(dirname(file), claimOf(file));
  if (lock !== null) return lock;
  throw new Error(
    `panel.data: ${file} is in use by another sidecar; give each its own (panel.data, panel.port), or stop the other one`,
  );
}
