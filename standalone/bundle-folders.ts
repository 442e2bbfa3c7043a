import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundle } from './bundle.ts';
import { isBundleName, readManifest } from './manifest.ts';

/** Entries below `bundles/`. */
export interface BundleFolders {
  /** By name; a folder whose `bundle.json` is wrong is among them, and has failed. */
  readonly bundles: Bundle[];
  /** Entries that are no bundle, with the reason, for the console. */
  readonly ignored: string[];
}

/** Throws if the folder cannot be read. */
export function readBundleFolders(folder: string): BundleFolders {
  const bundles: Bundle[] = [];
  const ignored: string[] = [];
  for (const name of readdirSync(folder).sort()) {
    const own = join(folder, name);
    if (name.startsWith('.') || !isFolder(own)) continue;
    if (!isBundleName(name)) ignored.push(`${JSON.stringify(name)} is ignored: no name for a bundle`);
    else if (!hasManifest(own)) ignored.push(`${name} is ignored: it has no bundle.json`);
    else bundles.push(newBundle(name, realpathSync(own)));
  }
  return { bundles, ignored };
}

function newBundle(name: string, folder: string): Bundle {
  const bundle: Bundle = {
    name,
    folder,
    manifest: null,
    state: 'stopped',
    reason: '',
    run: null,
    starts: 0,
    starting: null,
    stopping: null,
  };
  refreshManifest(bundle);
  if (bundle.manifest === null) bundle.state = 'failed';
  return bundle;
}

/** Takes over what `bundle.json` says now. */
export function refreshManifest(bundle: Bundle): void {
  try {
    bundle.manifest = readManifest(bundle.folder);
    bundle.reason = '';
  } catch (error) {
    bundle.manifest = null;
    bundle.reason = error instanceof Error ? error.message : String(error);
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function hasManifest(folder: string): boolean {
  return statSync(join(folder, 'bundle.json'), { throwIfNoEntry: false })?.isFile() ?? false;
}
