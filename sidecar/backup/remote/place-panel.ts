import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { NODE_DISK } from '../../write-behind/journal/disk.ts';
import { PANEL } from '../manifest.ts';

/**
 * Puts the panel's file of a backup in its place, as a whole or not at all, and ends its sessions: a cookie of then opens
 * nothing. An existing file stays. Returns lines about it for the owner.
 */
export async function placePanel(backup: string, file: string): Promise<string[]> {
  const from = join(backup, PANEL);
  if (!existsSync(from) || existsSync(file)) return [];
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.restored`;
  rmSync(partial, { force: true });
  copyFileSync(from, partial);
  const lines = ['the panel has its accounts and settings again'];
  const database = new Sqlite(partial, { fileMustExist: true });
  try {
    database.prepare('DELETE FROM sessions').run();
    const startLine = startedBySelf(database);
    if (startLine !== null) lines.push(`the panel will start the game server by itself: ${JSON.stringify(startLine)}`);
  } finally {
    database.close();
  }
  renameSync(partial, file);
  await NODE_DISK.flushFolder(dirname(file));
  return lines;
}

/** Command line that the panel runs when the sidecar starts: the owner sees it before that. Null if it runs none. */
function startedBySelf(panel: Sqlite.Database): string | null {
  const isThere = panel.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'settings'").get() !== undefined;
  if (!isThere) return null;
  const read = panel.prepare('SELECT value FROM settings WHERE name = ?').pluck();
  const value = (name: string): unknown => JSON.parse(String(read.get(name) ?? 'null'));
  const startLine = value('startLine');
  return value('autoStartServer') === true && typeof startLine === 'string' ? startLine : null;
}
