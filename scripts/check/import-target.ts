import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** `#name/` to its folder, as package.json says. */
const FOLDERS: ReadonlyMap<string, string> = readFolders();

function readFolders(): Map<string, string> {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { imports } = JSON.parse(text) as { imports: Record<string, string> };
  const withoutStar = (pattern: string) => pattern.replace(/\*$/, '');
  return new Map(
    Object.entries(imports).map(([name, folder]) => [withoutStar(name), withoutStar(folder).replace(/^\.\//, '')]),
  );
}

/** File from the root that `specifier` in the file at `path` names; null for a package or a module of Node.js. */
export function targetOf(path: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier);
  const [name = ''] = /^#[^/]+\//.exec(specifier) ?? [];
  const folder = FOLDERS.get(name);
  return folder === undefined ? null : folder + specifier.slice(name.length);
}
