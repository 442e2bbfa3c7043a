import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

function filesBelow(root: string, path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return (
    readdirSync(join(root, path), { withFileTypes: true })
      // Links are not followed: an editor's lock file is one that leads nowhere.
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((entry) => (entry.isDirectory() ? filesBelow(root, `${path}/${entry.name}`) : [`${path}/${entry.name}`]))
  );
}

/** A hash over names and contents of all files in these places; times do not count, since a checkout sets them again. */
export function hashInputs(root: string, places: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of places.flatMap((place) => filesBelow(root, place))) {
    const bytes = readFileSync(join(root, file));
    hash.update(`${file}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}
