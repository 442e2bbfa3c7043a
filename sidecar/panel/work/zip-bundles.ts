/** Bundle found in an archive, by its manifest. */
export interface FoundFolder {
  /** Folder of the archive without a slash at its end; empty for its top. */
  readonly from: string;
  readonly manifest: string;
}

export const JSON_MANIFEST = 'bundle.json';
const MANIFESTS = [JSON_MANIFEST, 'fxmanifest.lua', '__resource.lua'];

/** Folders with a manifest and none above them: at the top, in a wrapper, in folders in brackets, or many. */
export function findBundles(paths: Iterable<string>): FoundFolder[] {
  const found = new Map<string, string>();
  for (const path of paths) {
    const [folder, name] = split(path);
    const rank = MANIFESTS.indexOf(name);
    const known = found.get(folder);
    if (rank !== -1 && (known === undefined || rank < MANIFESTS.indexOf(known))) found.set(folder, name);
  }
  return [...found]
    .filter(([folder]) => !foldersAbove(folder).some((above) => found.has(above)))
    .map(([from, manifest]) => ({ from, manifest }))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
}

/** The found folder that holds the path, or undefined. */
export function folderOf(path: string, folders: ReadonlySet<string>): string | undefined {
  return [split(path)[0], ...foldersAbove(split(path)[0])].find((folder) => folders.has(folder));
}

/** Name of a bundle by its folder, or by the archive's own name: without `.zip`, `-main` and `-1.2.3`. */
export function proposedName(from: string, archiveName: string): string {
  const last = from === '' ? archiveName.replace(/\.zip$/i, '') : (from.split('/').at(-1) ?? '');
  return last.replace(/-(?:main|master|v?\d+(?:\.\d+){0,3})$/i, '');
}

function split(path: string): readonly [string, string] {
  const at = path.lastIndexOf('/');
  return at === -1 ? ['', path] : [path.slice(0, at), path.slice(at + 1)];
}

function foldersAbove(folder: string): string[] {
  if (folder === '') return [];
  const parts = folder.split('/');
  return parts.map((_part, index) => parts.slice(0, parts.length - index - 1).join('/'));
}
