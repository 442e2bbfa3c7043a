import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { giveToOwner } from './file-owner.ts';

/**
 * Makes a folder and its missing parents, each by a call of its own: `mkdirSync` with `recursive` never returns if the file
 * system refuses with ENOENT, as /proc does.
 *
 * @returns the first folder that was made; undefined if all were there
 * @throws Error of the operating system
 */
export function makeFolder(folder: string, mode = 0o700): string | undefined {
  const path = resolve(folder);
  if (isFolder(path)) return undefined;
  const above = dirname(path);
  const first = above === path ? undefined : makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
    giveToOwner(path);
    return first ?? path;
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && isFolder(path)) return first;
    throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
