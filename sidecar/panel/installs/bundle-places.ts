import { lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PanelError } from '../panel-error.ts';
import { BUNDLES_FOLDER } from '../settings/bundles-folder.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { Backend } from '../shapes/server.ts';
import { EntryRules, foldPath } from './entry-rules.ts';

/** Folders of the bundles of one server. */
export interface BundleRoot {
  readonly backend: Exclude<Backend, 'none'>;
  readonly serverRoot: string;
  /** Real path of `bundles` or `resources`. */
  readonly path: string;
  /** `.panel` beside it, on the same disk, so that a rename is enough. */
  readonly panel: string;
}

export interface FoundBundle {
  readonly name: string;
  readonly path: string;
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
/** Depth of folders in brackets on FXServer. */
const MAX_DEPTH = 6;
const MAX_BUNDLES = 4000;

/** Whether the name is one that the servers, every file system and the console take as it is. */
export function isBundleName(name: string): boolean {
  if (!NAME.test(name) || name.includes('..')) return false;
  try {
    return new EntryRules().add(name, 'folder') !== null;
  } catch {
    return false;
  }
}

/** Places of bundles on the disk. Names are compared with the list of folders, and no link is followed below the root. */
export class BundlePlaces {
  readonly #settings: Pick<PanelSettings, 'values'>;

  constructor(settings: Pick<PanelSettings, 'values'>) {
    this.#settings = settings;
  }

  /** @throws PanelError `bundles.unavailable`, `bundles.linked` if `.panel` is a link or on another disk */
  root(): BundleRoot {
    const { backend, serverRoot } = this.#settings.values;
    if (backend === 'none' || serverRoot === '' || !isFolder(serverRoot)) throw new PanelError('bundles.unavailable');
    const given = join(serverRoot, BUNDLES_FOLDER[backend]);
    if (lstatSync(given, { throwIfNoEntry: false }) === undefined) mkdirSync(given, { mode: 0o755 });
    const path = realpathSync(given);
    if (!statSync(path).isDirectory()) throw linked(`${given} is no folder`);
    const panel = join(dirname(path), '.panel');
    mkdirSync(panel, { recursive: true, mode: 0o700 });
    const stats = lstatSync(panel);
    if (!stats.isDirectory()) throw linked(`${panel} is no folder`);
    if (stats.dev !== statSync(path).dev) throw linked(`${panel} is on another disk than ${path}`);
    return { backend, serverRoot, path, panel };
  }

  /** Every bundle by its folder, also behind a link, which is not followed. */
  list(root: BundleRoot): FoundBundle[] {
    const found: FoundBundle[] = [];
    collect(root.path, root.backend === 'fxserver' ? MAX_DEPTH : 0, found);
    return found;
  }

  /**
   * null if there is no such bundle.
   *
   * @throws PanelError `bundles.exists` if one differs by case or Unicode form alone, `bundles.linked`
   */
  find(root: BundleRoot, name: string): FoundBundle | null {
    const twins = this.list(root).filter((found) => foldPath(found.name) === foldPath(name));
    const own = twins.find((found) => found.name === name);
    const twin = twins.find((found) => found !== own);
    if (twin !== undefined) throw new PanelError('bundles.exists', { field: 'name', detail: `there is ${twin.path}` });
    if (own === undefined) return null;
    checkNoLink(own.path);
    return own;
  }

  /**
   * Folder for a new bundle. @param category folder in brackets, on FXServer alone; null: directly below the root
   *
   * @throws PanelError `bundleTools.category`
   */
  targetFor(root: BundleRoot, name: string, category: string | null): string {
    if (category === null) return join(root.path, name);
    const folder = `[${category}]`;
    if (root.backend !== 'fxserver' || !isBundleName(category)) {
      throw new PanelError('bundleTools.category', { field: 'category' });
    }
    const above = join(root.path, folder);
    mkdirSync(above, { recursive: true, mode: 0o755 });
    checkNoLink(above);
    return join(above, name);
  }
}

function collect(folder: string, depth: number, found: FoundBundle[]): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (found.length >= MAX_BUNDLES || entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    const isCategory = depth > 0 && /^\[.+\]$/.test(entry.name);
    if (isCategory && entry.isDirectory()) collect(path, depth - 1, found);
    else if (!isCategory && (entry.isDirectory() || entry.isSymbolicLink())) found.push({ name: entry.name, path });
  }
}

/** @throws PanelError `bundles.linked` */
export function checkNoLink(path: string): void {
  if (!lstatSync(path).isDirectory()) throw linked(`${path} is a link or no folder`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function linked(detail: string): PanelError {
  return new PanelError('bundles.linked', { detail });
}
