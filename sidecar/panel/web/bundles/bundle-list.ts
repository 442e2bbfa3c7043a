import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { compareNames } from '#panel/shapes/by-name.ts';

/** Bundles whose name, description or tag contains the text, in either case. */
export function searchedBundles(bundles: readonly BundleInfo[], text: string): readonly BundleInfo[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return bundles;
  return bundles.filter(({ name, description, tags }) =>
    [name, description, ...tags].some((part) => part.toLowerCase().includes(wanted)),
  );
}

export type BundleAction = 'start' | 'stop' | 'restart';

/** Possible actions in the bundle's state; every action if the state is not known. */
export function actionsFor({ state }: BundleInfo): readonly BundleAction[] {
  switch (state) {
    case 'stopped':
    case 'failed':
      return ['start'];
    case 'starting':
      return ['stop'];
    case 'started':
      return ['restart', 'stop'];
    case 'unknown':
      return ['start', 'restart', 'stop'];
    default:
      return state satisfies never;
  }
}

/** Bundles that stop with this one, because they need it, directly or by others. */
export function dependentsOf(name: string, bundles: readonly BundleInfo[]): readonly string[] {
  const found = new Set([name]);
  // Each turn finds one at least, so a ring of dependencies ends as well.
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const bundle of bundles) {
      if (bundle.state !== 'stopped' && bundle.dependencies.some((needed) => found.has(needed))) found.add(bundle.name);
    }
  }
  found.delete(name);
  return [...found].sort(compareNames);
}

/** Dependencies that are not there, or do not run while the bundle wants to. */
export function missingOf(bundle: BundleInfo, bundles: readonly BundleInfo[]): readonly string[] {
  return bundle.dependencies.filter((needed) => bundles.every(({ name }) => name !== needed));
}
