import { chmodSync, closeSync, copyFileSync, fsyncSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInnerPath } from '../inner-path.ts';
import { PanelError } from '../panel-error.ts';
import { entriesBelow, hashFile, packHashes } from './file-list.ts';
import type { Report } from './task.ts';

export interface SealInput {
  /** Complete folder of a bundle, which no server reads yet. */
  readonly folder: string;
  /** Files that are carried over from the installed bundle. */
  readonly carry: { readonly from: string; readonly paths: readonly string[] } | null;
}

export interface Sealed {
  /** As `packHashes` returns them. */
  readonly files: Uint8Array;
  readonly count: number;
  readonly bytes: number;
  /** Carried files that exist. */
  readonly carried: readonly string[];
}

const FOLDER_MODE = 0o755;
const MODES = { plain: 0o644, program: 0o755 };

/**
 * Makes a folder ready to be renamed into place: carries files over, sets modes, hashes and flushes every file and folder.
 *
 * @throws PanelError `bundles.linked` for a link or device
 */
export async function sealFolder({ folder, carry }: SealInput, report: Report): Promise<Sealed> {
  const carried = carry === null ? [] : carry.paths.filter((path) => carryOver(carry.from, folder, path));
  const own = new Set(carried);
  const entries = [...entriesBelow(folder)];
  const other = entries.find(({ kind }) => kind === 'other');
  if (other !== undefined)
    throw new PanelError('bundles.linked', { detail: `${other.path} is neither a file nor a folder` });
  const hashes = new Map<string, string>();
  let bytes = 0;
  for (const [index, { path, kind }] of entries.entries()) {
    if (kind !== 'file') continue;
    const file = join(folder, path);
    const { mode } = lstatSync(file);
    // A file of the owner stays as closed as it was: it may be a secret.
    const most = own.has(path) ? mode & 0o777 : 0o777;
    chmodSync(file, ((mode & 0o111) === 0 ? MODES.plain : MODES.program) & most);
    const found = hashFile(file, fsyncSync);
    hashes.set(path, found.hash);
    bytes += found.bytes;
    if (index % 200 === 0) report(index / entries.length);
  }
  // The deepest first, so that a folder is flushed after its contents.
  for (const { path } of entries.filter(({ kind }) => kind === 'folder').reverse()) flushFolder(join(folder, path));
  flushFolder(folder);
  return { files: packHashes(hashes), count: hashes.size, bytes, carried };
}

/** A path that leads out of the bundle, or through a link, is not followed: the file is then not carried. */
function carryOver(from: string, to: string, path: string): boolean {
  if (!isInnerPath(path)) return false;
  const parts = path.split('/');
  const isPlain = parts.every((_part, index) => {
    const stats = lstatSync(join(from, ...parts.slice(0, index + 1)), { throwIfNoEntry: false });
    return index === parts.length - 1 ? stats?.isFile() === true : stats?.isDirectory() === true;
  });
  if (!isPlain) return false;
  mkdirSync(join(to, dirname(path)), { recursive: true });
  copyFileSync(join(from, path), join(to, path));
  return true;
}

function flushFolder(folder: string): void {
  chmodSync(folder, FOLDER_MODE);
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
