import { existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PANEL } from '../backup/manifest.ts';
import { giveToOwner } from '../file-owner.ts';
import { makeFolder } from '../make-folder.ts';
import { AccountStore } from '../panel/accounts/account-store.ts';
import { carryStore, isForeignContent } from '../panel/store/carry-store.ts';
import { holdPrograms } from '../panel/store/held-programs.ts';
import type { PanelStore } from '../panel/store/panel-store.ts';
import { NODE_DISK } from '../write-behind/journal/disk.ts';

/**
 * Puts the panel's accounts, settings and audit log of a backup in their place, as a whole or not at all. An existing file
 * stays. Returns lines about it for the owner.
 *
 * @param keepsPrograms the owner trusts the backup's start line and all else that runs by itself
 */
export async function placePanel(backup: string, file: string, keepsPrograms: boolean): Promise<string[]> {
  const from = join(backup, PANEL);
  if (!existsSync(from) || existsSync(file)) return [];
  makeFolder(dirname(file));
  const partial = `${file}.restored`;
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${partial}${suffix}`, { force: true });
  const lines: string[] = [];
  try {
    const store = carryStore(from, partial);
    try {
      const managers = managersOf(store);
      lines.push(
        `the panel has its accounts and settings again; these may manage it: ${managers.join(', ') || 'none'}`,
      );
      if (!keepsPrograms) lines.push(...holdPrograms(store));
    } finally {
      store.close();
    }
  } catch (error) {
    rmSync(partial, { force: true });
    if (!isForeignContent(error)) throw error;
    return [`left out: ${PANEL} of the backup is no file of this panel (${(error as Error).message}); it begins empty`];
  }
  giveToOwner(partial);
  renameSync(partial, file);
  await NODE_DISK.flushFolder(dirname(file));
  return lines;
}

function managersOf(store: PanelStore): string[] {
  return new AccountStore(store)
    .all()
    .flatMap(({ permissions, username }) => (permissions.has('users.manage') ? [username] : []));
}
