import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import type { Backend } from '../shapes/server.ts';

const LONGEST_PATH = 1024;

/** A folder for a game server, or why it is none: English, for the owner. */
export type ServerRoot = { readonly path: string } | { readonly problem: string; readonly folder?: string };

/**
 * Checks what somebody wrote as the folder of the game server. Links on the way are resolved here, so that what is shown,
 * compared and kept is the folder itself.
 *
 * @param backend null where it is not known yet: then only what holds for all of them is checked
 * @param reserved folders of the sidecar's own, absolute, in which no game server may write
 */
export function readServerRoot(given: unknown, backend: Backend | null, reserved: readonly string[]): ServerRoot {
  if (given === '' && backend === 'none') return { path: '' };
  const problem = problemOfText(given);
  if (problem !== null) return { problem };
  const path = resolveLinks(resolve(given as string));
  if (path === null) return { problem: 'the folder cannot be read' };
  if (parse(path).root === path) return { problem: 'expected a folder of its own, not the root of the disk' };
  const owner = reserved.find((folder) => isWithin(resolveLinks(folder) ?? folder, path));
  if (owner !== undefined) return { problem: `the sidecar keeps its own files in ${owner}` };
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind !== undefined && !kind.isDirectory()) return { problem: 'there is a file of that name, and no folder' };
  // A standalone server is made by setup; every other is there already.
  const mayBeMissing = backend === null || backend === 'standalone' || backend === 'none';
  return kind === undefined && !mayBeMissing ? missingFolder(path) : { path };
}

export function missingFolder(folder: string): { readonly problem: string; readonly folder: string } {
  return { problem: `the folder ${folder} does not exist`, folder };
}

/** Where the sidecar keeps what no game server may touch, as absolute paths. */
export function reservedFolders(folder: string): string[] {
  return ['secrets', 'data', 'logs'].map((name) => join(folder, name));
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function problemOfText(given: unknown): string | null {
  if (typeof given !== 'string' || given === '') return 'expected the path of a folder';
  if (given.length > LONGEST_PATH) return `expected at most ${LONGEST_PATH} characters`;
  if (!given.isWellFormed() || /\p{Cc}/u.test(given)) return 'expected a path without control characters';
  if (!isAbsolute(given))
    return `expected a whole path, such as ${process.platform === 'win32' ? 'C:\\game' : '/srv/game'}`;
  if (given.split(/[\\/]/).includes('..')) return 'expected a path without ".."';
  return null;
}

/** Of the part that exists; the rest is joined to it. Null where a part of it cannot be looked at. */
function resolveLinks(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    // What lies below a file is told as a missing folder; that it cannot be made, the installation tells.
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || parent === path) return null;
    const above = resolveLinks(parent);
    return above === null ? null : join(above, basename(path));
  }
}
