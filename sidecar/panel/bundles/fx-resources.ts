import { join } from 'node:path';
import { ensuredBy } from '../settings/ensure-lines.ts';
import { byName } from '../shapes/by-name.ts';
import { type BundleManifest, bare, foldersIn, readSmall, textOf, textsOf } from './bundle-manifests.ts';

/** Depth of nested folders in brackets, which hold resources. */
const MAX_DEPTH = 6;
const MAX_RESOURCES = 2000;
const CONFIG_FILE = 'server.cfg';

/** Resources of a FiveM or RedM server, also in folders in brackets; those that `server.cfg` ensures start by themselves. */
export async function readFxResources(root: string): Promise<BundleManifest[]> {
  const isEnsured = await readEnsured(root);
  const found: BundleManifest[] = [];
  await collect(join(root, 'resources'), root, [], found);
  const named = found.map((resource) => ({ ...resource, autostart: isEnsured(resource.name, resource.tags) }));
  return named.sort(byName);
}

/** Whether `server.cfg` starts a resource, by its name or by one of the folders in brackets above it. */
export async function readEnsured(root: string): Promise<(name: string, categories: readonly string[]) => boolean> {
  const ensured = ensuredBy((await readSmall(join(root, CONFIG_FILE), root)) ?? '');
  return (name, categories) => ensured.has(name) || categories.some((category) => ensured.has(`[${category}]`));
}

async function collect(
  folder: string,
  root: string,
  categories: readonly string[],
  found: BundleManifest[],
): Promise<void> {
  for (const name of await foldersIn(folder)) {
    if (found.length >= MAX_RESOURCES) return;
    const category = /^\[(.+)\]$/.exec(name)?.[1];
    if (category !== undefined) {
      if (categories.length < MAX_DEPTH) await collect(join(folder, name), root, [...categories, category], found);
      continue;
    }
    const manifest = await readLuaManifest(name, join(folder, name), root);
    if (manifest !== null) found.push({ ...manifest, tags: categories });
  }
}

/** Manifest of a resource in `folder`; null if it has none. */
export async function readLuaManifest(name: string, folder: string, root = folder): Promise<BundleManifest | null> {
  const text =
    (await readSmall(join(folder, 'fxmanifest.lua'), root)) ?? (await readSmall(join(folder, '__resource.lua'), root));
  return text === null ? null : ofLua(name, text);
}

/**
 * Reads the few declarations that are shown. A manifest is a Lua program; it is never run, only plain declarations are read. It
 * may be hostile: no expression below can begin in more than one way, so that none is slow on any text.
 */
export function ofLua(name: string, lua: string): BundleManifest {
  const text = withoutRemarks(withPlainLines(lua));
  const one = (key: string) =>
    textOf(new RegExp(`^[^\\S\\n]*${key}\\s*(?:\\(\\s*)?(['"])(.*?)\\1`, 'm').exec(text)?.[2]);
  const lists = [...text.matchAll(/^[^\S\n]*(?:dependencies|dependency)\s*(?:\(\s*)?\{([^{}]*)\}/gm)].map(
    ([, list]) => `${list}`,
  );
  const single = [...text.matchAll(/^[^\S\n]*dependency\s*(?:\(\s*)?(['"])(.*?)\1/gm)].map(([, , one]) => one);
  const listed = lists.flatMap((list) => [...list.matchAll(/(['"])(.*?)\1/g)].map(([, , one]) => one));
  return {
    ...bare(name),
    version: one('version'),
    description: one('description'),
    // `/server:5181` and similar are requirements of the server, not resources.
    dependencies: textsOf([...single, ...listed]).filter((dependency) => !dependency.startsWith('/')),
  };
}

/** `^` matches after each of these line ends; a run of blanks that contained them could begin anywhere in it. */
function withPlainLines(lua: string): string {
  return lua.replace(/\r\n?|[\u2028\u2029]/g, '\n');
}

/** A remark that never ends takes all that follows, as in Lua. */
function withoutRemarks(lua: string): string {
  const [first = '', ...others] = lua.split('--[[');
  const kept = others.map((part) => {
    const end = part.indexOf(']]');
    return end === -1 ? '' : part.slice(end + 2);
  });
  return [first, ...kept].join('').replace(/--[^\n]*/g, '');
}
