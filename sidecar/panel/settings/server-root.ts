import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import type { ErrorDetails } from '../panel-error.ts';
import { FOLDER_PROBLEMS, type FolderProblem, type RefusedFolder } from '../shapes/error-keys.ts';
import type { Backend } from '../shapes/server.ts';

const LONGEST_PATH = 1024;
const EXAMPLE = process.platform === 'win32' ? 'C:\\game' : '/srv/game';

/** A folder for a game server, or why it is refused. */
export type ServerRoot = { readonly path: string } | RefusedFolder;

/**
 * Checks the text of an owner for the folder of the game server. Resolves links, so that the folder itself is shown, compared
 * and stored.
 *
 * @param backend null if not known yet: only the rules for all kinds are checked
 * @param reserved folders of the sidecar, absolute, in which no game server may write
 */
export function readServerRoot(given: unknown, backend: Backend | null, reserved: readonly string[]): ServerRoot {
  if (given === '' && backend === 'none') return { path: '' };
  const problem = problemOfText(given);
  if (problem !== null) return { problem, folder: problem === 'folder-relative' ? EXAMPLE : '' };
  const folder = resolve(given as string);
  const path = resolveLinks(folder);
  if (path === null) return { problem: 'folder-unreadable', folder };
  if (parse(path).root === path) return { problem: 'folder-root', folder: path };
  const owner = reserved.find((own) => isWithin(resolveLinks(own) ?? own, path));
  if (owner !== undefined) return { problem: 'folder-reserved', folder: owner };
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind !== undefined && !kind.isDirectory()) return { problem: 'folder-file', folder: path };
  // Setup creates the folder of a standalone server; any other server exists already.
  const mayBeMissing = backend === null || backend === 'standalone' || backend === 'none';
  return kind === undefined && !mayBeMissing ? { problem: 'folder-missing', folder: path } : { path };
}

/** Details of a refusal: English for the API, code and folder for pages in other languages. */
export function folderDetails({ problem, folder }: RefusedFolder): Pick<ErrorDetails, 'detail' | 'reason' | 'folder'> {
  return { detail: FOLDER_PROBLEMS[problem].replace('{folder}', () => folder), reason: problem, folder };
}

/** Absolute paths of the sidecar's folders that no game server may touch. */
export function reservedFolders(folder: string): string[] {
  return ['secrets', 'data', 'logs'].map((name) => join(folder, name));
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function problemOfText(given: unknown): FolderProblem | null {
  if (typeof given !== 'string' || given === '') return 'folder-empty';
  const isText = given.length <= LONGEST_PATH && given.isWellFormed() && !/\p{Cc}/u.test(given);
  if (!isText) return 'folder-invalid';
  if (!isAbsolute(given)) return 'folder-relative';
  return given.split(/[\\/]/).includes('..') ? 'folder-invalid' : null;
}

/** Resolves the part of the path that exists and joins the rest. null if a part cannot be read. */
function resolveLinks(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const parent = dirname(path);
    // A path below a file counts as a missing folder; the installation then reports that it cannot be created.
    if ((code !== 'ENOENT' && code !== 'ENOTDIR') || parent === path) return null;
    const above = resolveLinks(parent);
    return above === null ? null : join(above, basename(path));
  }
}
