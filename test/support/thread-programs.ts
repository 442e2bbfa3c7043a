import { fileURLToPath } from 'node:url';
import { bundleThreads } from '#scripts/build/programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = new URL('../../.cache/threads/', import.meta.url);
/** Files that start a thread, and the program of that. */
const STARTERS = {
  '/sidecar/engine/sqlite/worker/thread.ts': 'sqlite-worker.js',
  '/sidecar/panel/work/run-work.ts': 'panel-worker.js',
};

/** Global set-up: programs of the sidecar's threads, as they are shipped. */
export async function setup(): Promise<void> {
  if (process.env.TEST_THREADS !== undefined) return;
  process.env.TEST_THREADS = FOLDER.href;
  await bundleThreads(ROOT, fileURLToPath(FOLDER));
}

/**
 * Plugin of Vite: a sidecar inside of a test starts these threads, not their sources. Each starts in two thirds of the time, and a
 * sidecar has four.
 */
export const BUILT_THREADS = {
  name: 'built-threads',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    const found = Object.entries(STARTERS).find(([file]) => id.endsWith(file));
    return found && code.replace("'./worker.ts'", JSON.stringify(new URL(found[1], FOLDER).href));
  },
};
