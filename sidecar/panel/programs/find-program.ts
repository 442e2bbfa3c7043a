import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Folders for programs that the panel starts, in order. */
export const PROGRAM_PATH = (process.env.PATH ?? '').split(delimiter).filter(isAbsolute).join(delimiter);

/** Absolute path of a program along PATH, or null. */
export function findProgram(name: string): string | null {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  const places = PROGRAM_PATH.split(delimiter).map((folder) => join(folder, file));
  return places.find(isProgram) ?? null;
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
