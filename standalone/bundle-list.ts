import type { Bundle } from './bundle.ts';
import { isFolder, readBundleFolders, refreshManifest } from './bundle-folders.ts';

/** The bundles below a folder. A bundle that was read stays until `reread`, whatever becomes of its folder. */
export class BundleList {
  readonly folder: string;
  readonly #bundles = new Map<string, Bundle>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** By name. */
  get all(): readonly Bundle[] {
    return [...this.#bundles.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): Bundle | undefined {
    return this.#bundles.get(name);
  }

  /** Finds a bundle that was put there since the folder was read, too. */
  find(name: string): Bundle | undefined {
    if (!this.#bundles.has(name)) this.read();
    return this.#bundles.get(name);
  }

  /** Also forgets bundles that do not run and whose folder has gone. Throws if the folder cannot be read. */
  reread(): void {
    this.read();
    for (const bundle of this.all) {
      const isIdle = (bundle.state === 'stopped' || bundle.state === 'failed') && bundle.stopping === null;
      if (!isIdle) continue;
      if (isFolder(bundle.folder)) refreshManifest(bundle);
      else this.#bundles.delete(bundle.name);
    }
  }

  /** Returns entries that are no bundle, with the reason. Throws if the folder cannot be read. */
  read(): readonly string[] {
    const { bundles, ignored } = readBundleFolders(this.folder);
    for (const bundle of bundles) {
      if (!this.#bundles.has(bundle.name)) this.#bundles.set(bundle.name, bundle);
    }
    return ignored;
  }
}

type Bundles = { get(name: string): Bundle | undefined };

/** A ring that the bundle stands in, as `a → b → a`; null if it is in none. */
export function findRing(bundle: Bundle, bundles: Bundles): string | null {
  const seen = new Set<string>();
  const search = (name: string, path: readonly string[]): readonly string[] | null => {
    for (const next of bundles.get(name)?.manifest?.dependencies ?? []) {
      if (next === bundle.name) return [...path, next];
      if (seen.has(next)) continue;
      seen.add(next);
      const ring = search(next, [...path, next]);
      if (ring !== null) return ring;
    }
    return null;
  };
  return search(bundle.name, [bundle.name])?.join(' → ') ?? null;
}

/** Bundles that name it as a dependency and are started or starting. */
export function runningDependents(bundle: Bundle, bundles: readonly Bundle[]): Bundle[] {
  return bundles.filter(
    ({ manifest, state }) =>
      (state === 'started' || state === 'starting') && manifest?.dependencies.includes(bundle.name) === true,
  );
}
