import { closeSync, existsSync, linkSync, openSync, readdirSync, readSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { giveToOwner } from '../../file-owner.ts';
import { makeFolder } from '../../make-folder.ts';
import { MoveRefused } from '../../moving/report.ts';
import { NODE_DISK } from '../../write-behind/journal/disk.ts';

const LOG = '-wal';
const ASIDE = '.before-';

const HEADER = 'SQLite format 3\0';

/** Folds the log of a database into its file. @throws MoveRefused while a program has it open */
export function settleDatabase(file: string): void {
  // SQLite deletes the log of a file that it does not know as a database.
  if (!existsSync(file) || !isDatabase(file)) return;
  try {
    const database = new Sqlite(file, { fileMustExist: true });
    try {
      // Only the last connection of all programs may do this.
      database.pragma('journal_mode = DELETE');
    } finally {
      database.close();
    }
  } catch (error) {
    const { code = '' } = error as { code?: string };
    // A damaged database keeps its log.
    if (!code.startsWith('SQLITE_BUSY')) return;
    throw new MoveRefused(`a program has ${file} open: stop the sidecar, and whatever else reads it, first`);
  }
}

/**
 * Puts the database `from` in the place of `to`, whose files stay beside it under another name. A crash leaves the old
 * database, the new one, or none: never a file with the log of another one.
 */
export async function placeDatabase(from: string, to: string, say: (line: string) => void): Promise<void> {
  makeFolder(dirname(to));
  settleDatabase(to);
  await flushFile(from);
  const aside = asideOf(to);
  if (existsSync(`${to}${LOG}`)) await moveDamaged(to, aside, say);
  else if (existsSync(to)) {
    keepBeside(to, aside);
    say(`put ${to} aside as ${aside}`);
  }
  // Litestream's notes on the old file are wrong for the new one.
  rmSync(join(dirname(to), `.${basename(to)}-litestream`), { recursive: true, force: true });
  giveToOwner(from);
  renameSync(from, to);
  await NODE_DISK.flushFolder(dirname(to));
}

function isDatabase(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(HEADER.length);
    readSync(descriptor, head, 0, head.length, 0);
    return head.toString('latin1') === HEADER;
  } finally {
    closeSync(descriptor);
  }
}

/** The file before its log: a log without a file is no database, a file without its log is an old one. */
async function moveDamaged(to: string, aside: string, say: (line: string) => void): Promise<void> {
  for (const suffix of ['', LOG, '-shm']) {
    if (!existsSync(`${to}${suffix}`)) continue;
    renameSync(`${to}${suffix}`, `${aside}${suffix}`);
    await NODE_DISK.flushFolder(dirname(to));
    say(`put ${to}${suffix} aside as ${aside}${suffix}`);
  }
}

/** A log without its file goes beside the file that an earlier try has put aside. */
function asideOf(to: string): string {
  const name = `${basename(to)}${ASIDE}`;
  const earlier = readdirSync(dirname(to)).filter((each) => each.startsWith(name) && !/-(wal|shm)$/.test(each));
  const newest = earlier.toSorted().at(-1);
  if (!existsSync(to) && newest !== undefined) return join(dirname(to), newest);
  return `${to}${ASIDE}${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
}

/** The old database stays in its place until the new one replaces it. */
function keepBeside(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Some file systems have no links.
    renameSync(from, to);
  }
}

async function flushFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
