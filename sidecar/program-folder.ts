import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
}

/** Where this program lies: built, the folder of `sidecar`; from source, the root of the repository. */
export const PROGRAM_FOLDER = folderWithManifest(import.meta.dirname);

const MANIFEST = JSON.parse(readFileSync(join(PROGRAM_FOLDER, 'package.json'), 'utf8')) as Manifest;

export const VERSION = MANIFEST.version;

const IS_BUILT = MANIFEST.name === 'sidecar';

/** Folder that the next version of the program replaces; null if the program runs from source. */
export const REPLACED_FOLDER = IS_BUILT ? PROGRAM_FOLDER : null;

/** The built pages. */
export const PAGES_FILE = join(PROGRAM_FOLDER, IS_BUILT ? 'panel.pages' : 'dist/sidecar/panel.pages');

function folderWithManifest(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const above = dirname(folder);
  if (above === folder) throw new Error('the program has no package.json above it');
  return folderWithManifest(above);
}
