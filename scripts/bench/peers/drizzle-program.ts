import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInstall } from '#scripts/servers/install-command.ts';

const VERSION = '0.45.4';
/** Inside the checkout, so that it finds the checkout's own better-sqlite3. */
const FOLDER = fileURLToPath(new URL(`../../../.cache/drizzle-${VERSION}`, import.meta.url));

/** Folder of the query builder that the peer of the transfers is made with. Throws an Error with the reason why there is none. */
export async function provideDrizzle(say: (line: string) => void): Promise<string> {
  const folder = join(FOLDER, 'node_modules/drizzle-orm');
  if (existsSync(join(folder, 'package.json'))) return folder;
  mkdirSync(FOLDER, { recursive: true });
  const options = [
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--legacy-peer-deps',
    '--prefix',
    FOLDER,
  ];
  const argv = ['npm', 'install', ...options, `drizzle-orm@${VERSION}`];
  await runInstall({ argv, cwd: FOLDER, abortSignal: 'SIGKILL' }, say);
  return folder;
}
