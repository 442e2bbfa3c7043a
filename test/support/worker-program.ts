import { fileURLToPath } from 'node:url';
import { bundleWorker } from '#scripts/build/programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../.cache/worker-program', import.meta.url));

/** Global set-up: the program of the connector's worker, as it is shipped, in the folder `TEST_WORKER_FOLDER`. */
export async function setup(): Promise<void> {
  await bundleWorker(ROOT, FOLDER);
  process.env.TEST_WORKER_FOLDER = FOLDER;
}
