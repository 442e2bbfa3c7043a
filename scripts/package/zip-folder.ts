import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';

/** fflate writes the fields of local time; a day on which no zone changes its clock gives the same fields everywhere. */
const TIME = new Date(2000, 0, 1, 12);
const UNIX = 3;
const REGULAR_FILE = 0o100644;

/** Paths with `/`, unsorted. */
export function filesBelow(folder: string, path: string): string[] {
  return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(folder, inner) : [inner];
  });
}

/**
 * All files of a folder below `top/`. Names, contents and nothing else decide the bytes: one order, one time, one mode.
 *
 * @param level 0 stores the files as they are
 */
export function zipFolder(folder: string, top: string, level: 0 | 6 = 6): Uint8Array {
  const files: Zippable = {};
  for (const path of filesBelow(folder, '').sort()) {
    files[`${top}/${path}`] = [
      readFileSync(join(folder, path)),
      { mtime: TIME, os: UNIX, attrs: REGULAR_FILE << 16, level },
    ];
  }
  return zipSync(files);
}
