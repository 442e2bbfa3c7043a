import type { Bundle } from './bundle.ts';
import { readBundleFolders } from './bundle-folders.ts';

/** The bundles below a folder. What was read once stays, whatever becomes of its folder. */
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

  /** One that was put there since the folder was read is found too. */
  find(name: string): Bundle | undefined {
    if (!this.#bundles.has(name)) this.read();
    return this.#bundles.get(name);
  }

  /** Returns what is no bundle, with the reason. Throws where the folder cannot be read. */
  read(): readonly string[] {
    const { bundles, ignored } = readBundleFolders(this.folder);
    for (const bundle of bundles) {
      if (!this.#bundles.has(bundle.name)) this.#bundles.set(bundle.name, bundle);
    }
    return ignored;
  }
}
