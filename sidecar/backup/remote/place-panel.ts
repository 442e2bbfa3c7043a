import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { NODE_DISK } from '../../write-behind/journal/disk.ts';
import { PANEL } from '../manifest.ts';

/**
 * Puts the panel's file of a backup in its place, as a whole or not at all, and ends its sessions: a cookie of then opens
 * nothing. An existing file stays. Returns whether it was placed.
 */
export async function placePanel(backup: string, file: string): Promise<boolean> {
  const from = join(backup, PANEL);
  if (!existsSync(from) || existsSync(file)) return false;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.restored`;
  rmSync(partial, { force: true });
  copyFileSync(from, partial);
  const database = new Sqlite(partial, { fileMustExist: true });
  try {
    database.prepare('DELETE FROM sessions').run();
  } finally {
    database.close();
  }
  renameSync(partial, file);
  await NODE_DISK.flushFolder(dirname(file));
  return true;
}
