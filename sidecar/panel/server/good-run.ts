import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { PanelSettings, SettingValues } from '../settings/panel-settings.ts';
import type { ServerStatus } from '../shapes/server.ts';
import type { PanelStore } from '../store/panel-store.ts';

/** A run of at least this long is a good run. */
const GOOD_AFTER_MS = 300_000;
/** Bound over all bundles; a larger server folder is not compared. */
const MAX_FILES = 20_000;
const MAX_DEPTH = 8;
const SKIPPED = new Set(['node_modules', 'cache', 'logs', 'data', 'db']);
const SETTINGS = ['backend', 'serverRoot', 'startLine', 'stopLine', 'shutdownMode'] as const;

/** Parts of a server (`bundle shop`, `file server.cfg`), each with a text that differs after a change. */
type ServerContents = Readonly<Record<string, string>>;

/** Stores the contents of the server folder at the last good run, so that a crash record can list the changes since. */
export class GoodRun {
  readonly #store: PanelStore;
  readonly #settings: PanelSettings;
  #wasUp = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(store: PanelStore, settings: PanelSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  /** Takes each status. A run is good if it lasts long enough, or was up and ended on request. */
  follow({ state, exit }: ServerStatus): void {
    if (state === 'running') this.#wasUp = true;
    if (state === 'running' && this.#timer === undefined) this.#timer = setTimeout(() => this.#note(), GOOD_AFTER_MS);
    if (state === 'running' || state === 'stopping') return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#wasUp && exit?.reason === 'asked') this.#note();
    this.#wasUp = false;
  }

  /** Parts changed, added or removed since the last good run; null if there was none. */
  async changes(): Promise<string[] | null> {
    await this.#writing;
    const row = this.#store.prepare('SELECT contents FROM server_good_run').get() as { contents: string } | undefined;
    const { values } = this.#settings;
    const now = values.serverRoot === '' ? null : await readContents(values);
    return row === undefined || now === null ? null : difference(JSON.parse(row.contents) as ServerContents, now);
  }

  /** The store may be closed then. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#writing;
  }

  #note(): void {
    this.#writing = readContents(this.#settings.values)
      .then((contents) => {
        if (contents === null) this.#store.prepare('DELETE FROM server_good_run').run();
        else this.#write(contents);
      })
      .catch(() => {});
  }

  #write(contents: ServerContents): void {
    this.#store
      .prepare('INSERT OR REPLACE INTO server_good_run (id, contents) VALUES (1, ?)')
      .run(JSON.stringify(contents));
  }
}

export function difference(before: ServerContents, now: ServerContents): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return names.flatMap((name) => {
    if (!Object.hasOwn(now, name)) return [`${name} removed`];
    if (!Object.hasOwn(before, name)) return [`${name} added`];
    return before[name] === now[name] ? [] : [`${name} changed`];
  });
}

/** null if there are too many files. */
async function readContents(settings: SettingValues): Promise<ServerContents | null> {
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

/** FXServer's resources may be in folders such as `[local]`. */
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
