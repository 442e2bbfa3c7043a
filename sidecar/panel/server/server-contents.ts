import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { SettingValues } from '../settings/panel-settings.ts';

/** What a server is made of, each with something that is other when it has changed: `bundle shop`, `file server.cfg`. */
export type ServerContents = Readonly<Record<string, string>>;

/** All files together; a folder that is larger than that is not compared. */
const MAX_FILES = 20_000;
const MAX_DEPTH = 8;
const SKIPPED = new Set(['node_modules', 'cache', 'logs', 'data', 'db']);
const SETTINGS = ['backend', 'serverRoot', 'startLine', 'stopLine', 'shutdownMode'] as const;

/** null where it is too much to look at. */
export async function readContents(settings: SettingValues): Promise<ServerContents | null> {
  const contents: Record<string, string> = {};
  for (const name of SETTINGS) contents[`setting ${name}`] = settings[name];
  const budget = { files: MAX_FILES };
  const { serverRoot, backend } = settings;
  const config = await readFile(join(serverRoot, 'server.cfg')).catch(() => null);
  if (config !== null) contents['file server.cfg'] = createHash('sha256').update(config).digest('hex');
  const bundles = backend === 'standalone' ? 'bundles' : backend === 'fxserver' ? 'resources' : null;
  if (bundles !== null) await addBundles(join(serverRoot, bundles), contents, budget, 0);
  return budget.files < 0 ? null : contents;
}

interface Budget {
  files: number;
}

/** FXServer's resources may lie in folders such as `[local]`. */
async function addBundles(
  folder: string,
  contents: Record<string, string>,
  budget: Budget,
  depth: number,
): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    if (/^\[.*\]$/.test(entry.name) && depth < MAX_DEPTH) await addBundles(path, contents, budget, depth + 1);
    else {
      const hash = createHash('sha256');
      await addFiles(path, path, (text) => hash.update(text), budget, 0);
      contents[`bundle ${entry.name}`] = hash.digest('hex');
    }
  }
}

async function addFiles(
  root: string,
  folder: string,
  add: (text: string) => void,
  budget: Budget,
  depth: number,
): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < MAX_DEPTH && !SKIPPED.has(entry.name)) {
      await addFiles(root, path, add, budget, depth + 1);
    }
    if (!entry.isFile()) continue;
    budget.files -= 1;
    if (budget.files < 0) return;
    const { size, mtimeMs } = await stat(path).catch(() => ({ size: -1, mtimeMs: 0 }));
    add(`${relative(root, path)}\0${size}\0${mtimeMs}\0`);
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  return entries.filter(({ name }) => !name.startsWith('.')).sort((a, b) => (a.name < b.name ? -1 : 1));
}
