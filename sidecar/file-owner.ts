import { closeSync, lchownSync, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

type Owner = Pick<Stats, 'uid' | 'gid'>;

/** Users of the sidecars that root works for; null in every process but a command of root. */
let users: Set<number> | null = null;

/** A command of root works for other users from now on: what it makes in folders of their sidecars belongs to them. */
export function workForOwners(): void {
  if (process.getuid?.() === 0) users ??= new Set();
}

/** Names a sidecar whose files this process may change. @param configFile may not be there yet */
export function nameSidecar(configFile: string): void {
  if (users === null) return;
  const folder = dirname(resolve(configFile));
  for (const path of [folder, configFile, join(folder, 'data')]) {
    const uid = statSync(path, { throwIfNoEntry: false })?.uid ?? 0;
    if (uid !== 0) users.add(uid);
  }
}

/** Gives a file or folder that this process has made to the user of the sidecar, if it lies in a folder of that user. */
export function giveToOwner(path: string): void {
  const owner = ownerIn(dirname(resolve(path)));
  if (owner !== null) give(path, owner);
}

/** Also what is in the folder, which holds no folders. */
export function giveFolderToOwner(folder: string): void {
  const owner = ownerIn(dirname(resolve(folder)));
  if (owner === null) return;
  for (const name of readdirSync(folder)) give(join(folder, name), owner);
  give(folder, owner);
}

/** A file that replaces another one gets its owner; without another one it is given as a new file. */
export function giveToOwnerOf(replaced: string, path: string): void {
  if (users === null) return;
  const stats = statSync(replaced, { throwIfNoEntry: false });
  if (stats === undefined) giveToOwner(path);
  else give(path, stats);
}

/** Makes an empty file. One that is there is not opened: closing it again would end a lock that this process holds. */
export function makeForOwner(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600));
    giveToOwner(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Whether the user of a sidecar owns it; for a sidecar of root anything goes. */
export function isOwners({ uid }: Owner): boolean {
  return users === null || users.size === 0 || users.has(uid);
}

function ownerIn(folder: string): Owner | null {
  if (users === null) return null;
  const stats = statSync(folder);
  return users.has(stats.uid) ? stats : null;
}

/** A file system without owners, and a container whose root may not do this, leave the file as it is. */
function give(path: string, { uid, gid }: Owner): void {
  try {
    lchownSync(path, uid, gid);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(`${(error as NodeJS.ErrnoException).code}`)) throw error;
  }
}
