import { existsSync, renameSync, rmSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { UpdateEnd } from '#sidecar/keeper/channel/messages.ts';
import { FORMAT } from '../store/tables.ts';

const COPY = /^panel-[0-9a-f]+\.sqlite(-journal)?$/;

/** Copy of `panel.sqlite` from before a change of the release. */
export function panelCopyOf(folder: string, id: string): string {
  return join(folder, `panel-${id}.sqlite`);
}

/**
 * After a release was taken back: puts the copy in the place of a file that this program cannot use, since the release has
 * raised its format or damaged it. Returns whether it did.
 */
export function putBackPanelCopy(file: string, folder: string, last: UpdateEnd | null): boolean {
  if (last?.outcome !== 'takenBack') return false;
  const copy = panelCopyOf(folder, last.id);
  if (!existsSync(copy) || isUsable(file)) return false;
  for (const rest of ['-wal', '-shm']) rmSync(`${file}${rest}`, { force: true });
  renameSync(copy, file);
  return true;
}

/** No change is open that could need them. */
export async function removePanelCopies(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((known) => COPY.test(known))) await rm(join(folder, name), { force: true });
}

function isUsable(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    const database = new Database(file, { fileMustExist: true });
    try {
      const format = database.pragma('user_version', { simple: true }) as number;
      return format <= FORMAT && database.pragma('quick_check(1)', { simple: true }) === 'ok';
    } finally {
      database.close();
    }
  } catch (error) {
    // A file that another program holds is not damaged.
    return (error as { code?: string }).code?.startsWith('SQLITE_BUSY') === true;
  }
}
