import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hashInputs } from '#scripts/build/input-hash.ts';
import { bundleSidecar, bundleSqliteWorker } from '#scripts/build/programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, '.cache/sidecar');
const DAY_MS = 86_400_000;
const INPUTS = ['sidecar', 'db_connector', 'scripts/build', 'package-lock.json', 'test/panel/support/quick-keeper.ts'];
const PROGRAMS = {
  main: 'sidecar/main.ts',
  keeper: 'sidecar/keeper/main.ts',
  'quick-keeper': 'test/panel/support/quick-keeper.ts',
};
/** Files that start a thread, and the program of that. A thread of SQLite is kept for the next database (`kept-thread.ts`). */
const STARTERS = {
  '/sidecar/engine/sqlite/worker/thread.ts': 'sqlite-worker.cjs',
  '/sidecar/panel/work/run-work.ts': 'panel-worker.js',
};

/**
 * Global set-up: the sidecar and its threads as programs in JavaScript, in the folder `TEST_SIDECAR`. They lie below the
 * repository, so that they take everything but their code from there, as the sources do. A folder never changes: its name is
 * a hash over its sources.
 */
export async function setup(): Promise<void> {
  if (process.env.TEST_SIDECAR !== undefined) return;
  const folder = join(FOLDER, hashInputs(ROOT, INPUTS).slice(0, 16));
  process.env.TEST_SIDECAR = folder;
  process.env.TEST_SIDECAR_URL = pathToFileURL(folder).href;
  if (existsSync(folder)) return;
  mkdirSync(FOLDER, { recursive: true });
  removeOld();
  const fresh = `${folder}.${process.pid}`;
  await bundleSidecar(ROOT, fresh, PROGRAMS);
  await bundleSqliteWorker(ROOT, fresh, { format: 'cjs', banner: {}, outExtension: { '.js': '.cjs' } });
  try {
    renameSync(fresh, folder);
  } catch {
    // Another run has built it meanwhile.
    rmSync(fresh, { recursive: true });
  }
}

/** A run beside this one may use those of today. */
function removeOld(): void {
  for (const name of readdirSync(FOLDER)) {
    const path = join(FOLDER, name);
    if (Date.now() - statSync(path).mtimeMs > DAY_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Plugin of Vite: a sidecar inside of a test starts built threads, in two thirds of the time; it has four. */
export const BUILT_THREADS = {
  name: 'built-threads',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    const found = Object.entries(STARTERS).find(([file]) => id.endsWith(file));
    if (found === undefined) return undefined;
    // Vitest keeps the result over runs: the folder of this run must not be in it.
    const starter = found[1].endsWith('.cjs')
      ? code.replace("'node:worker_threads'", "'#support/kept-thread.ts'")
      : code;
    return starter.replace("'./worker.ts'", `process.env.TEST_SIDECAR_URL + ${JSON.stringify(`/${found[1]}`)}`);
  },
};
