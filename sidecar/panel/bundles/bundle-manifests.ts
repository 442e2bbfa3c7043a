import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { BundleInfo } from '../shapes/bundles.ts';

/** A bundle as its folder describes it. */
export type BundleManifest = Omit<BundleInfo, 'state'>;

const MAX_BUNDLES = 2000;
const MAX_MANIFEST_BYTES = 262_144;
const MAX_TEXT_CHARS = 2000;
const MAX_LIST = 200;

/** Bundles of a standalone server by name, from `bundles/<name>/bundle.json`. An unreadable bundle has only its name. */
export async function readBundleFolder(root: string): Promise<BundleManifest[]> {
  const folder = join(root, 'bundles');
  const found: BundleManifest[] = [];
  for (const name of await foldersIn(folder)) {
    const text = await readSmall(join(folder, name, 'bundle.json'), root);
    found.push(text === null ? bare(name) : ofJson(name, text));
  }
  return found;
}

/** Folders by name. Links are followed; `readSmall` reads only files inside of the root. */
export async function foldersIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const folders: string[] = [];
  for (const name of names.sort().slice(0, MAX_BUNDLES)) {
    const stats = await stat(join(folder, name)).catch(() => null);
    if (stats?.isDirectory() === true && !name.startsWith('.')) folders.push(name);
  }
  return folders;
}

/** null if the file is missing, too long, or a link that leads out of the root. */
export async function readSmall(file: string, root: string): Promise<string | null> {
  try {
    const real = await realpath(file);
    if (!real.startsWith((await realpath(root)) + sep)) return null;
    const { size } = await stat(real);
    return size > MAX_MANIFEST_BYTES ? null : await readFile(real, 'utf8');
  } catch {
    return null;
  }
}

/** Manifest of a bundle of the standalone server in `folder`; null if it has no `bundle.json` that can be read. */
export async function readJsonManifest(name: string, folder: string): Promise<BundleManifest | null> {
  const text = await readSmall(join(folder, 'bundle.json'), folder);
  return text === null ? null : ofJson(name, text);
}

export function bare(name: string): BundleManifest {
  return { name, version: '', description: '', dependencies: [], tags: [], autostart: false };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : '';
}

export function textsOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, MAX_LIST)
    .map(textOf)
    .filter((text) => text !== '');
}

function ofJson(name: string, json: string): BundleManifest {
  try {
    const { version, description, dependencies, tags, autostart } = JSON.parse(json) as Record<string, unknown>;
    return {
      name,
      version: textOf(version),
      description: textOf(description),
      dependencies: textsOf(dependencies),
      tags: textsOf(tags),
      autostart: autostart !== false,
    };
  } catch {
    return bare(name);
  }
}
