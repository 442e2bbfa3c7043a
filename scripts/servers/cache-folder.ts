import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A folder of the user's cache, made if it is missing. Everything in it may be deleted while no server runs. */
export function cacheFolder(...parts: readonly string[]): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(base, 'game-server-database', 'servers', ...parts);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
