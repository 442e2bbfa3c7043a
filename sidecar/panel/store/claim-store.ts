import { mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type FolderLock, lockFolder } from '#sidecar/folder-lock.ts';

/**
 * Takes `panel.sqlite` for this process: a second panel on it would end the game server of the first, which it must take for
 * one that a dead process has left behind. The system frees the lock with the process, however that ends.
 *
 * @throws Error with one line for the owner where another process has it
 */
export async function claimStore(file: string): Promise<FolderLock> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = await lockFolder(dirname(file), `${basename(file)}-owner`);
  if (lock !== null) return lock;
  throw new Error(
    `panel.data: ${file} is in use by another sidecar; give each its own (panel.data, panel.port), or stop the other one`,
  );
}
