import { join } from 'node:path';
import SQLite from 'better-sqlite3';

const BUSY_WAIT_MS = 10_000;

/**
 * Lays a copy of the database into the folder, as it is at this moment and whole, while others go on writing, and returns
 * its file. @throws Error for a database that cannot be read
 */
export function copyDatabase(file: string, folder: string): string {
  const copy = join(folder, 'snapshot.sqlite');
  const db = new SQLite(file, { fileMustExist: true, timeout: BUSY_WAIT_MS });
  try {
    // The copy is opened again, and need not outlive a power failure.
    db.pragma('synchronous = OFF');
    db.prepare('VACUUM INTO ?').run(copy);
    return copy;
  } finally {
    db.close();
  }
}
