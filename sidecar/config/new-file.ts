import {
  closeSync,
  existsSync,
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
export function replaceFile(path: string, text: string, mode: number): void {
  renameSync(writeTemporary(path, text, mode), path);
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

function writeTemporary(path: string, text: string, mode: number): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  const descriptor = openSync(temporary, 'w', mode);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  return temporary;
}
