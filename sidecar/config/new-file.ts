import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { giveToOwner, giveToOwnerOf } from '../file-owner.ts';
import { makeFolder } from '../make-folder.ts';

const OWNER_ONLY = 0o600;
const RENAME_ATTEMPTS = 40;
const RENAME_PAUSE_MS = 50;

/** The whole file or none, also after a crash. False if it exists already, also if another process made it just now. */
export function writeNew(path: string, text: string): boolean {
  if (existsSync(path)) return false;
  const temporary = writeTemporary(path, text, OWNER_ONLY);
  try {
    giveToOwner(temporary);
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    return withoutLinks(path, text);
  } finally {
    unlinkSync(temporary);
  }
}

/** Another content in place of the file's: the old one or the new one, also after a crash. */
export function replaceFile(path: string, content: string | Uint8Array, mode: number): void {
  const temporary = writeTemporary(path, content, mode);
  try {
    giveToOwnerOf(path, temporary);
    renameOver(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

/** On Windows a file that another program reads cannot be replaced: retry for two seconds. */
function renameOver(from: string, to: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      renameSync(from, to);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isInUse = code === 'EPERM' || code === 'EACCES' || code === 'EBUSY';
      if (process.platform !== 'win32' || !isInUse || attempt === RENAME_ATTEMPTS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RENAME_PAUSE_MS);
    }
  }
}

/** Some file systems have no links. */
function withoutLinks(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: OWNER_ONLY });
    giveToOwner(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Unpredictable name, and never through a link: other users may have the right to write to the folder. */
function writeTemporary(path: string, content: string | Uint8Array, mode: number): string {
  makeFolder(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const descriptor = openSync(temporary, 'wx', mode);
  try {
    fchmodSync(descriptor, mode);
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } catch (error) {
    unlinkSync(temporary);
    // A call by descriptor names no file, and the owner knows the one that was to be written.
    throw Object.assign(error as Error, { path });
  } finally {
    closeSync(descriptor);
  }
  return temporary;
}
