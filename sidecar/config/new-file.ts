import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const OWNER_ONLY = 0o600;

/** The whole file or none, also after a crash. False where it is there already, also when another process made it just now. */
export function writeNew(path: string, text: string): boolean {
  if (existsSync(path)) return false;
  const temporary = writeTemporary(path, text, OWNER_ONLY);
  try {
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
    renameSync(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

/** Some file systems have no links. */
function withoutLinks(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: OWNER_ONLY });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Of a name that nobody knows beforehand, and never through a link: others may have the right to write to the folder. */
function writeTemporary(path: string, content: string | Uint8Array, mode: number): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const descriptor = openSync(temporary, 'wx', mode);
  try {
    fchmodSync(descriptor, mode);
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return temporary;
}
