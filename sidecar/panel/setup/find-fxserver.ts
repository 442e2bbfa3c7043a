import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FX_PROGRAMS, FX_USUAL_PROGRAMS } from '../settings/fx-programs.ts';

/** Places of the program in FXServer's guides, relative to the folder of `server.cfg`. */
const PLACES = ['.', 'server', 'artifacts', 'alpine', '../server', '../artifacts'];
const DEEPEST = 4;
const MOST_FOLDERS = 20_000;

/**
 * The FXServer program of this folder in one of the usual places, with links resolved. A file that another user of the machine
 * may have put there is ignored, since the program will be run.
 */
export function findFxServer(root: string): string | null {
  const files = PLACES.flatMap((place) => FX_PROGRAMS.map((program) => join(root, place, program)));
  const found = files.find(isFile);
  if (found === undefined) return null;
  const program = realpathSync(found);
  const owners = [process.getuid?.(), 0, statSync(root).uid];
  const isOurs = (path: string) => {
    const { uid, mode } = statSync(path);
    return process.platform === 'win32' || (owners.includes(uid) && (mode & 0o002) === 0);
  };
  return isOurs(program) && isOurs(dirname(program)) ? program : null;
}

/** Path of the resource below `resources/`, also in folders such as `[core]`, or null. */
export function findResource(resources: string, name: string): string | null {
  let seen = 0;
  const look = (folder: string, depth: number): string | null => {
    const own = join(folder, name);
    if (isFile(join(own, 'fxmanifest.lua'))) return own;
    if (depth === DEEPEST) return null;
    for (const entry of namesIn(folder)) {
      seen += 1;
      // The server itself looks for resources only in such folders.
      if (!/^\[.*\]$/.test(entry) || seen > MOST_FOLDERS) continue;
      const found = look(join(folder, entry), depth + 1);
      if (found !== null) return found;
    }
    return null;
  };
  return look(resources, 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Empty if the program is in the folder itself: the backend has a start line for that. */
export function fxStartLine(root: string, program: string): string {
  return dirname(program) === root && FX_USUAL_PROGRAMS.includes(basename(program))
    ? ''
    : `"${program}" +exec server.cfg`;
}
