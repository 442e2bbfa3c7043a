import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folders that the panel can copy into a server folder; null if the installed package does not contain it. */
export interface ShippedFiles {
  /** The complete folder `db_connector`, for every kind of server. */
  readonly connector: string | null;
  /** Sample bundle for the standalone server. */
  readonly sample: string | null;
}

/** Beside the built program, in its folder, or in the build of these sources. */
const PLACES = ['..', '.', '../../../dist'];

export function findShippedFiles(here: string = fileURLToPath(new URL('.', import.meta.url))): ShippedFiles {
  const find = (path: string) =>
    PLACES.map((place) => join(here, place, path)).find((folder) => existsSync(join(folder, 'bundle.json'))) ?? null;
  return { connector: find('db_connector'), sample: find('server/bundles/sample_roleplay') };
}
