import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { hashInputs } from '#scripts/build/input-hash.ts';
import { bundleSidecar, bundleSqliteWorker } from '#scripts/build/programs.ts';
import { PRELOADS } from './preloads.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, '.cache/sidecar');
const DAY_MS = 86_400_000;
const PRELOAD_FILES = PRELOADS.map((name) => `test/support/${name}.ts`);
const INPUTS = [
  ...['sidecar', 'db_connector', 'scripts/build', 'package-lock.json', 'test/panel/support/quick-keeper.ts'],
  ...[...PRELOAD_FILES, 'test/support/watch-sql.ts', 'test/support/preloads.ts', 'scripts/servers'],
];
const PROGRAMS = {
  main: 'sidecar/main.ts',
  keeper: 'sidecar/keeper/main.ts',
  'quick-keeper': 'test/panel/support/quick-keeper.ts',
};
/** Files that start a thread, its program, and whether it is kept for the next one that starts (`kept-thread.ts`). */
const STARTERS = {
  '/sidecar/engine/sqlite/worker/thread.ts': { program: 'sqlite-worker.cjs', isKept: true },
  '/sidecar/panel/work/run-work.ts': { program: 'panel-worker.js', isKept: false },
};

/**
 * Global set-up: the sidecar, its threads and their preloads in JavaScript, in the folder `TEST_SIDECAR`. They lie below the
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
  await bundlePreloads(fresh);
  try {
    renameSync(fresh, folder);
  } catch {
    // Another run has built it meanwhile.
    rmSync(fresh, { recursive: true });
  }
}

async function bundlePreloads(outdir: string): Promise<void> {
  const { metafile } = await build({
    ...{ absWorkingDir: ROOT, entryPoints: PRELOAD_FILES, outdir, outExtension: { '.js': '.cjs' } },
    ...{ bundle: true, platform: 'node', target: 'node22.19', format: 'cjs', external: ['better-sqlite3'] },
    ...{ logLevel: 'silent', metafile: true },
  });
  const stray = Object.keys(metafile.inputs).filter((file) => !INPUTS.some((input) => file.startsWith(input)));
  if (stray.length > 0) throw new Error(`built-sidecar.ts: a preload imports what is not among INPUTS: ${stray}`);
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
    const starter = Object.entries(STARTERS).find(([file]) => id.endsWith(file))?.[1];
    if (starter === undefined) return undefined;
    const { program, isKept } = starter;
    // Vitest keeps the result over runs: the folder of this run must not be in it.
    const built = code.replace("'./worker.ts'", `process.env.TEST_SIDECAR_URL + '/${program}'`);
    return isKept ? built.replace("'node:worker_threads'", "'#support/kept-thread.ts'") : built;
  },
};
