// `npm run build`: writes dist/ (contract section 1) if it is older than its sources. `--force` builds in any case.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFxTypes, writeHelperTypes } from './build/helper-types.ts';
import { hashInputs } from './build/input-hash.ts';
import { writeLicences } from './build/licences.ts';
import { luaHelper } from './build/lua-helper.ts';
import { buildPanelPages } from './build/panel-pages.ts';
import { bundlePrograms } from './build/programs.ts';
import { shipBundles } from './build/shipped-bundles.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.inputs');

const INPUTS = [
  'bundles',
  'db_connector',
  'sidecar',
  'standalone',
  'scripts/build',
  'scripts/build.ts',
  'vfs/database.example.json',
  'vfs/sidecar.example.json',
  'package-lock.json',
  'LICENSE',
  'docs',
];

/** Pages that lines of the sidecar send an owner to. */
const SHIPPED_PAGES = [
  'backup.md',
  'cluster.md',
  'configuration.md',
  'databases.md',
  'grafana',
  'moving.md',
  'operations.md',
  'panel-remote.md',
  'troubleshooting.md',
  'write-behind.md',
];

/** The drop-in folder beside its scripts: what an owner reads, and what the server reads. */
function completeConnector(folder: string): void {
  mkdirSync(join(folder, 'vfs'), { recursive: true });
  for (const file of ['bundle.json', 'fxmanifest.lua', 'README.md']) {
    copyFileSync(join(ROOT, 'db_connector', file), join(folder, file));
  }
  copyFileSync(join(ROOT, 'vfs/database.example.json'), join(folder, 'vfs/database.example.json'));
  writeHelperTypes(ROOT, join(folder, 'helper.d.ts'));
  writeFxTypes(join(folder, 'helper.fx.d.ts'));
  writeFileSync(join(folder, 'helper.lua'), luaHelper(ROOT));
  cpSync(join(ROOT, 'db_connector/examples'), join(folder, 'examples'), { recursive: true });
}

/** better-sqlite3 carries its compiled binaries; only what runs is copied, its C sources are not. */
function placeSqlite(folder: string): void {
  const from = join(ROOT, 'node_modules/better-sqlite3');
  const to = join(folder, 'node_modules/better-sqlite3');
  for (const part of ['package.json', 'LICENSE', 'lib', 'prebuilds']) {
    cpSync(join(from, part), join(to, part), { recursive: true });
  }
}

/** Beside the program: examples to start from, never a configuration. */
function completeSidecar(folder: string): void {
  placeSqlite(folder);
  copyFileSync(join(ROOT, 'sidecar/README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'vfs/sidecar.example.json'), join(folder, 'sidecar.example.json'));
  cpSync(join(ROOT, 'sidecar/service'), join(folder, 'service'), { recursive: true });
  for (const page of SHIPPED_PAGES) {
    cpSync(join(ROOT, 'docs', page), join(folder, 'docs', page), { recursive: true });
  }
}

/** Everything of dist/, into a folder that is empty or not there. */
export async function build(target: string): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const packages = await bundlePrograms(ROOT, target, version);
  completeConnector(join(target, 'db_connector'));
  completeSidecar(join(target, 'sidecar'));
  const pages = await buildPanelPages(ROOT, join(target, 'sidecar/panel.pages'));
  writeLicences(ROOT, join(target, 'db_connector'), packages.connector);
  writeLicences(ROOT, join(target, 'sidecar'), [
    ...new Set([...packages.sidecar, ...pages, 'node_modules/better-sqlite3']),
  ]);
  writeLicences(ROOT, join(target, 'standalone'), packages.standalone);
  cpSync(join(target, 'sidecar'), join(target, 'db_connector/sidecar'), { recursive: true });
  cpSync(join(target, 'db_connector'), join(target, 'server/bundles/db_connector'), { recursive: true });
  shipBundles(join(ROOT, 'bundles'), join(target, 'server/bundles'));
}

/** If two builds run at the same time, either may end last: both are of the same sources. */
function putInPlace(fresh: string): void {
  for (let attempt = 1; ; attempt += 1) {
    rmSync(DIST, { recursive: true, force: true, maxRetries: 3 });
    try {
      renameSync(fresh, DIST);
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}

/** Prints a line if it builds, and nothing if dist/ is up to date. */
export async function buildIfStale(say: (line: string) => void, isForced = false): Promise<void> {
  const inputs = hashInputs(ROOT, INPUTS);
  if (!isForced && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === inputs) return;
  say('Building dist/ …');
  const startedMs = performance.now();
  // Built beside and put in place at the end: a build that fails leaves the last good one, and none is ever half there.
  const fresh = join(ROOT, `.cache/dist-${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  try {
    await build(fresh);
    writeFileSync(join(fresh, '.inputs'), inputs);
    putInPlace(fresh);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  say(`  dist/ is built (${((performance.now() - startedMs) / 1000).toFixed(1)} s).`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await buildIfStale(console.log, process.argv.includes('--force'));
    console.log('dist/ is up to date: db_connector/, sidecar/, standalone/, server/.');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
