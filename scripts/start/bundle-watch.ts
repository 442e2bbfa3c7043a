import { createHash } from 'node:crypto';
import { existsSync, type FSWatcher, readdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { bundleNames, shippedFiles, writeShipped } from '../build/shipped-bundles.ts';

/** Editors write a file in several steps; one restart is for all of them. */
const SETTLED_MS = 80;

export interface BundleWatchSettings {
  /** The sources: a folder of bundles. */
  readonly from: string;
  /** The bundles of the running server. */
  readonly to: string;
  /** Types a line on the console of the server. */
  readonly type: (line: string) => void;
  readonly say: (line: string) => void;
}

/** A bundle as it was brought to the server last. */
interface Brought {
  readonly hash: string;
  readonly paths: ReadonlySet<string>;
}

/** Brings changed bundles to a running server, and restarts them there. */
export class BundleWatch {
  readonly #settings: BundleWatchSettings;
  /** By folder. A watch of a whole tree loses sight of files that an editor replaces. */
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #brought = new Map<string, Brought>();
  /** The last mistake of each bundle that cannot be built. */
  readonly #mistakes = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  /** The bundles that are in the folder now count as brought. */
  constructor(settings: BundleWatchSettings) {
    this.#settings = settings;
    this.#watchFolders();
    for (const name of bundleNames(settings.from)) {
      this.#brought.set(name, broughtNow(shippedFiles(join(settings.from, name))));
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #watchFolders(): void {
    const { from } = this.#settings;
    const below = readdirSync(from, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
    const folders = new Set([from, ...below.map((entry) => join(entry.parentPath, entry.name))]);
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watchFolder(folder);
  }

  #watchFolder(folder: string): void {
    const watcher = watch(folder, () => this.#onChange());
    watcher.on('error', (error) => {
      if (existsSync(folder)) this.#settings.say(`[watch] ${folder}: ${error.message}`);
    });
    this.#watchers.set(folder, watcher);
  }

  #onChange(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#bringAll(), SETTLED_MS);
  }

  #bringAll(): void {
    try {
      this.#watchFolders();
      const names = bundleNames(this.#settings.from);
      for (const name of names) this.#bring(name);
      for (const name of this.#brought.keys()) if (!names.includes(name)) this.#remove(name);
    } catch (error) {
      // A folder went away while it was read; its watcher reports that as well.
      this.#settings.say(`[watch] ${messageOf(error)}`);
    }
  }

  #bring(name: string): void {
    const { from, to, type, say } = this.#settings;
    try {
      const startedMs = performance.now();
      // Read as a whole before anything is written: a bundle with a mistake leaves the running one as it is.
      const files = shippedFiles(join(from, name));
      const [before, now] = [this.#brought.get(name), broughtNow(files)];
      this.#mistakes.delete(name);
      if (before?.hash === now.hash) return;
      writeShipped(files, join(to, name));
      for (const path of before?.paths ?? []) if (!now.paths.has(path)) rmSync(join(to, name, path), { force: true });
      this.#brought.set(name, now);
      say(`[watch] ${name}: built in ${Math.round(performance.now() - startedMs)} ms`);
      type(`restart ${name}`);
    } catch (error) {
      const mistake = messageOf(error);
      if (this.#mistakes.get(name) !== mistake) say(`[watch] ${name}: ${mistake}`);
      this.#mistakes.set(name, mistake);
    }
  }

  #remove(name: string): void {
    this.#brought.delete(name);
    this.#settings.type(`stop ${name}`);
    rmSync(join(this.#settings.to, name), { recursive: true, force: true });
    this.#settings.say(`[watch] ${name}: removed`);
  }
}

function broughtNow(files: ReturnType<typeof shippedFiles>): Brought {
  const hash = createHash('sha256');
  for (const { path, content } of files) hash.update(`${path}\n${content.length}\n`).update(content);
  return { hash: hash.digest('hex'), paths: new Set(files.map(({ path }) => path)) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
