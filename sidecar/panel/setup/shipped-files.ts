import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What this panel can put into a server folder. Null where the package that was installed does not hold it. */
export interface ShippedFiles {
  /** The complete folder `db_connector`, for every kind of server. */
  readonly connector: string | null;
  /** The bundle that shows how it is used, for the standalone server. */
  readonly sample: string | null;
}

/** Beside the built program, in its own folder, or where the build of these sources puts it. */
const PLACES = ['..', '.', '../../../dist'];

export function findShippedFiles(here: string = fileURLToPath(new URL('.', import.meta.url))): ShippedFiles {
  const find = (path: string) =>
    PLACES.map((place) => join(here, place, path)).find((folder) => existsSync(join(folder, 'bundle.json'))) ?? null;
  return { connector: find('db_connector'), sample: find('server/bundles/sample_roleplay') };
}
