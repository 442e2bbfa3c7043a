import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PROGRAMS = process.platform === 'win32' ? ['FXServer.exe'] : ['run.sh', 'FXServer'];
/** Where the guides put the program, seen from the folder of `server.cfg`. */
const PLACES = ['.', 'server', 'artifacts', 'alpine', '../server', '../artifacts'];
const DEEPEST = 4;
const MOST_FOLDERS = 20_000;

/**
 * The program of FXServer that belongs to this folder, if it lies where it usually does; as it is called with its links
 * resolved. What another user of the box may have put there is passed over, since it is going to be run.
 */
export function findFxServer(root: string): string | null {
  const files = PLACES.flatMap((place) => PROGRAMS.map((program) => join(root, place, program)));
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

/** A resource of this name below `resources/`, also in folders such as `[core]`; null where there is none. */
export function findResource(resources: string, name: string): string | null {
  let seen = 0;
  const look = (folder: string, depth: number): string | null => {
    const own = join(folder, name);
    if (isFile(join(own, 'fxmanifest.lua'))) return own;
    if (depth === DEEPEST) return null;
    for (const entry of namesIn(folder)) {
      seen += 1;
      // Only these hold resources, for the server as for us.
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

/** Empty where the program lies in the folder itself: then the backend knows its own line. */
export function fxStartLine(root: string, program: string): string {
  return program === join(root, PROGRAMS[0] as string) ? '' : `"${program}" +exec server.cfg`;
}
