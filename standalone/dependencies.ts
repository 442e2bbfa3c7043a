import type { Bundle } from './bundle.ts';

type Bundles = { get(name: string): Bundle | undefined };

/** A ring that the bundle stands in, as `a → b → a`; null where it stands in none. */
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

/** Those that name it as a dependency and are up, or on their way. */
export function runningDependents(bundle: Bundle, bundles: readonly Bundle[]): Bundle[] {
  return bundles.filter(
    ({ manifest, state }) =>
      (state === 'started' || state === 'starting') && manifest?.dependencies.includes(bundle.name) === true,
  );
}
