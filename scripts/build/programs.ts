import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** Packages whose code went into each program, as folders below the root. */
export interface BundledPackages {
  readonly connector: string[];
  readonly sidecar: string[];
  readonly standalone: string[];
}

const { NEEDED, ENGINES, RANGES }: { NEEDED: string; ENGINES: string; RANGES: [number, number][] } = createRequire(
  import.meta.url,
)('../setup/node-runtime.cjs');

const COMMON: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node22.19',
  format: 'esm',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  metafile: true,
};

/** Packages in CommonJS call `require` for Node's own modules; an ES module has to bring it. */
const REQUIRE =
  "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);";

/**
 * Loads modules of Node.js when an export of them is first used. An `import` loads them and reads each export, a `require` in a
 * package loads them, and some load more: the client for WebSockets of `node:http` takes 60 ms of a processor, `node:http2`
 * 18 ms, `node:crypto` and the streams of `node:fs` 30 ms in each thread.
 */
function atFirstUse(filter: RegExp): Plugin {
  const contents = (path: string) => {
    const names = Object.keys(createRequire(import.meta.url)(path) as object);
    return `let loaded;
for (const name of ${JSON.stringify(names)}) {
  Object.defineProperty(exports, name, { enumerable: true, get: () => (loaded ??= require(${JSON.stringify(path)}))[name] });
}`;
  };
  return {
    name: 'at-first-use',
    setup({ onResolve, onLoad }) {
      onResolve({ filter }, ({ path, kind, namespace }) =>
        kind === 'dynamic-import' || namespace === 'at-first-use'
          ? { path, external: true }
          : { path, namespace: 'at-first-use' },
      );
      onLoad({ filter: /.*/, namespace: 'at-first-use' }, ({ path }) => ({ contents: contents(path) }));
    },
  };
}

/**
 * better-sqlite3 is native and stands beside the program. The others are packages that drivers load if they are
 * installed: databases that cannot be configured here, and native doubles of their own code.
 */
const EXTERNAL = [
  'better-sqlite3',
  ...['sqlite3', 'mysql', 'mariadb', 'mariadb/callback', 'oracledb', 'tedious', 'pg-query-stream'],
  ...['pg-native', 'cloudflare:sockets'],
  // Parts of Fastify that it loads for schemas, its own log and requests of tests: the sidecar has none (`bare-app.ts`).
  ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'pino', 'light-my-request'],
];

async function bundle(
  root: string,
  outdir: string,
  entryPoints: Record<string, string>,
  options: BuildOptions = {},
): Promise<string[]> {
  const { metafile } = await build({
    ...COMMON,
    absWorkingDir: root,
    entryPoints,
    outdir,
    external: EXTERNAL,
    plugins: [atFirstUse(/^(node:)?(http|https|http2|tls|child_process|zlib)$/)],
    banner: { js: REQUIRE },
    ...options,
  });
  const folders = Object.keys(metafile?.inputs ?? {}).map(
    (file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0],
  );
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

/**
 * `main.js` only looks at the version and then imports the program, because a Node.js too old for the program's syntax would
 * show a syntax error in place of this line. It runs as an ES module and as a classic script, on Node.js 12 and newer.
 */
function entry(what: string, program: string): string {
  const isInRange = RANGES.map(([first, end]) => `(version >= ${first} && version < ${end})`).join(' || ');
  return `// Says which Node.js is needed, in words that an old one understands; everything else is in ${program}.
var parts = process.versions.node.split('.').map(Number);
var version = parts[0] * 1000000 + parts[1] * 1000 + parts[2];
if (${isInRange}) {
  import('./${program}');
} else {
  process.stderr.write('${what} needs Node.js ${NEEDED}; this is Node.js ' + process.versions.node + '.\\n');
  process.exitCode = 1;
}
`;
}

function placeEntry(folder: string, name: string, what: string, version: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'main.js'), entry(what, `${name}.js`));
  const manifest = { name, version, private: true, type: 'module', license: 'MIT', engines: { node: ENGINES } };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** FXServer compiles classic scripts of a syntax that its own Node.js 22 knows; whose timers they use says `game-timers.ts`. */
const CLASSIC: BuildOptions = { format: 'iife', target: 'node22', banner: {} };

/** Read as text and started from it, as a thread of FXServer need not be able to read the resource's files. */
export function bundleWorker(root: string, folder: string): Promise<string[]> {
  return bundle(root, folder, { worker: 'db_connector/worker/worker.ts' }, CLASSIC);
}

async function bundleConnector(root: string, folder: string): Promise<string[]> {
  const packages = [
    await bundle(root, folder, {
      server: 'db_connector/host/standalone/server.ts',
      helper: 'db_connector/helper/helper.ts',
    }),
    await bundle(
      root,
      folder,
      { 'server.fx': 'db_connector/host/fivem/server.ts' },
      { ...CLASSIC, inject: ['db_connector/host/fivem/game-timers.ts'] },
    ),
    await bundle(root, folder, { 'helper.fx': 'db_connector/helper/fx-globals.ts' }, CLASSIC),
    await bundleWorker(root, folder),
  ];
  return [...new Set(packages.flat())].sort();
}

/** Each sidecar starts several: in one file, without what it shares with the program but does not use. */
export function bundleSqliteWorker(root: string, folder: string, options: BuildOptions = {}): Promise<string[]> {
  const entryPoints = { 'sqlite-worker': 'sidecar/engine/sqlite/worker/worker.ts' };
  return bundle(root, folder, entryPoints, { plugins: [atFirstUse(/^node:(crypto|fs)$/)], ...options });
}

/** @param more entries beside those of the sidecar's threads */
export async function bundleSidecar(root: string, folder: string, more: Record<string, string>): Promise<string[]> {
  const packages = [
    await bundleSqliteWorker(root, folder),
    // A driver is read only if its database is configured. It stands beside the program, since a worker is started from there.
    await bundle(
      root,
      folder,
      { 'panel-worker': 'sidecar/panel/work/worker.ts', ...more },
      { splitting: true, chunkNames: '[name]-[hash]' },
    ),
  ];
  return [...new Set(packages.flat())].sort();
}

export async function bundlePrograms(root: string, target: string, version: string): Promise<BundledPackages> {
  const sidecar = join(target, 'sidecar');
  const standalone = join(target, 'standalone');
  placeEntry(sidecar, 'sidecar', 'The sidecar', version);
  writeFileSync(join(sidecar, 'keeper.js'), entry('The sidecar', 'sidecar-keeper.js'));
  placeEntry(standalone, 'standalone', 'The standalone server', version);
  return {
    connector: await bundleConnector(root, join(target, 'db_connector')),
    sidecar: await bundleSidecar(root, sidecar, {
      sidecar: 'sidecar/main.ts',
      'sidecar-keeper': 'sidecar/keeper/main.ts',
    }),
    standalone: await bundle(root, standalone, { standalone: 'standalone/main.ts' }),
  };
}
