import { join } from 'node:path';
import { makeForOwner } from './file-owner.ts';

export interface FolderLock {
  release(): void;
}

/**
 * Keeps every other process out of a folder; null if another process holds it. The system frees SQLite's lock when its
 * holder is gone, however that ended, and on every platform. The file is empty but for that.
 */
export async function lockFolder(folder: string, name = 'lock.sqlite'): Promise<FolderLock | null> {
  const { default: Sqlite } = await import('better-sqlite3');
  const path = join(folder, name);
  makeForOwner(path);
  const database = new Sqlite(path, { timeout: 0 });
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE');
    return { release: () => void database.close() };
  } catch (error) {
    database.close();
    if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true) return null;
    throw error;
  }
}
