// `npm test`: builds, provides servers, runs every check and every test, and closes with counts. `npm test -- PATH…` runs only
// those tests, ENGINES=sqlite,postgres only on those engines.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from './build.ts';
import {
  addCounts,
  type Counts,
  closingLine,
  countEngines,
  countRun,
  engineFailures,
  engineTable,
  isPassed,
  type RunReport,
  readReport,
  repeatedCases,
  unequalCases,
} from './check/counts.ts';
import { chosenEngines, isServerEngine, urlVariableOf } from './servers/chosen-engines.ts';
import { provideChromium } from './servers/chromium-program.ts';
import { startServers, type TestServers } from './servers/start-servers.ts';
import { untestedKinds, untestedPrograms } from './servers/untested-kinds.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GAME_SERVER_NODE = 22;
const GAME_SERVER_TESTS = [
  'test/unit/connector',
  'test/unit/helper',
  'test/e2e/host-contract.test.ts',
  'test/e2e/fx-server.test.ts',
];
const nodeRuntime: { fetchOther(root: string, major: number): string } = createRequire(import.meta.url)(
  './setup/node-runtime.cjs',
);
const REPORT = join(ROOT, '.cache/vitest.json');

/** A program of a package, as Node.js runs it: no shell, no PATH. */
function binOf(packageName: string, program = packageName.split('/').at(-1) as string): string {
  // Not resolved as a module: a package need not export its manifest.
  const manifest = join(ROOT, 'node_modules', packageName, 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | Record<string, string> };
  return join(dirname(manifest), typeof bin === 'string' ? bin : (bin[program] as string));
}

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function run(
  args: readonly string[],
  isShown: boolean,
  environment: NodeJS.ProcessEnv = {},
  node = process.execPath,
): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const child = spawn(node, args, {
    cwd: ROOT,
    // A child's output is read here, or goes where ours goes: colours only on a terminal.
    env: { ...process.env, ...environment, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }) },
    stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('error', reject);
  child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  return promise;
}

async function check(name: string, work: () => Promise<Outcome>): Promise<Counts> {
  const startedMs = performance.now();
  const { code, output } = await work();
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${code === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
  if (code !== 0) console.log(`${output.trimEnd()}\n`);
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
}

async function buildCheck(): Promise<Outcome> {
  try {
    await buildIfStale(() => {});
    return { code: 0, output: '' };
  } catch (error) {
    return { code: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

/** Each counts as one test. */
function checks(): Promise<Counts>[] {
  return [
    check('types', () => run([binOf('typescript', 'tsc'), '--noEmit'], false)),
    check('types of the pages', () => run([binOf('typescript', 'tsc'), '--noEmit', '-p', 'sidecar/panel/web'], false)),
    check('lint and format', () => run([binOf('@biomejs/biome'), 'ci', '--colors=off'], false)),
    check('unused code', () => run([binOf('knip'), '--no-progress'], false)),
    check('import directions', () => run([join(ROOT, 'scripts/check/import-directions.ts')], false)),
  ];
}

/** Before the tests, because it takes longer than one of them may. What is missing is told at the end. */
async function provideBrowser(): Promise<void> {
  await provideChromium((line) => console.log(line)).catch(() => {});
}

/** Those that this run is about, on the loopback; with paths given, the tests start what they need themselves. */
async function provideServers(): Promise<TestServers> {
  const engines = chosenEngines(process.env).filter(isServerEngine);
  return startServers({ engines, hostile: true, say: (line) => console.log(line) });
}

/** What the test runner must know of them: their addresses, and which are left to run on. */
function serversEnvironment(servers: TestServers): NodeJS.ProcessEnv {
  const urls: NodeJS.ProcessEnv = {};
  const engines = chosenEngines(process.env).filter(
    (engine) => !isServerEngine(engine) || servers[engine] !== undefined,
  );
  for (const engine of engines.filter(isServerEngine)) urls[urlVariableOf(engine)] = servers[engine]?.url;
  return { ...urls, ENGINES: engines.join() };
}

interface TestRun {
  readonly counts: Counts;
  readonly report: RunReport | null;
}

async function runTests(filters: readonly string[], environment: NodeJS.ProcessEnv, node?: string): Promise<TestRun> {
  mkdirSync(dirname(REPORT), { recursive: true });
  rmSync(REPORT, { force: true });
  const reporters = ['--reporter=default', `--reporter=${join(ROOT, 'scripts/check/count-reporter.ts')}`];
  const args = [binOf('vitest'), 'run', ...reporters, ...filters];
  const { code } = await run(args, true, { ...environment, COUNT_REPORT: REPORT }, node);
  const report = readReport(REPORT);
  return { counts: countRun(report, code), report };
}

function showRepeated(report: RunReport | null): void {
  for (const line of repeatedCases(report)) console.log(`! ${line}`);
}

/**
 * FXServer runs scripts on a Node.js of its own (contract section 9), so what is loaded there is tested on that one too.
 *
 * @param untested gets a line where npm cannot provide it
 */
async function testOnGameServerNode(untested: Map<string, string>): Promise<Counts> {
  if (process.versions.node.startsWith(`${GAME_SERVER_NODE}.`)) return { passed: 0, failed: 0, skipped: 0 };
  try {
    const node = nodeRuntime.fetchOther(ROOT, GAME_SERVER_NODE);
    console.log(`Tests of what runs inside of game servers, on Node.js ${GAME_SERVER_NODE}:`);
    const { counts, report } = await runTests(['--project', 'sidecar', ...GAME_SERVER_TESTS], {}, node);
    showRepeated(report);
    return counts;
  } catch (error) {
    untested.set(`node${GAME_SERVER_NODE}`, error instanceof Error ? error.message : String(error));
    return { passed: 0, failed: process.env.CI ? 1 : 0, skipped: 0 };
  }
}

function showEngines(report: RunReport | null, untested: ReadonlyMap<string, string>): void {
  const engines = countEngines(report);
  if (engines.size === 0 && untested.size === 0) return;
  console.log(['The contract suite on each engine:', ...engineTable(engines, untested)].join('\n'));
  for (const line of unequalCases(report)) console.log(`✗ ${line}`);
}

async function testAll(): Promise<Counts[]> {
  const browser = provideBrowser();
  const providing = provideServers();
  const counts = await Promise.all(checks());
  const servers = await providing;
  await browser;
  try {
    console.log('Tests:');
    const { counts: tested, report } = await runTests([], serversEnvironment(servers));
    const missing = Object.entries(servers.missing);
    const untested = new Map([...missing, ...(await untestedKinds(servers)), ...(await untestedPrograms())]);
    const onGameServerNode = await testOnGameServerNode(untested);
    showEngines(report, untested);
    showRepeated(report);
    return [...counts, tested, onGameServerNode, engineFailures(report, missing.length, Boolean(process.env.CI))];
  } finally {
    await servers.stop();
  }
}

async function testSome(filters: readonly string[]): Promise<Counts[]> {
  console.log('Tests:');
  const { counts, report } = await runTests(filters, {});
  showEngines(report, new Map());
  showRepeated(report);
  return [counts, engineFailures(report, 0, false)];
}

async function main(filters: readonly string[]): Promise<void> {
  const startedMs = performance.now();
  // Refuses a wrong one before anything long begins.
  chosenEngines(process.env);
  console.log('Build and checks:');
  const built = await check('build', buildCheck);
  const total = addCounts([built, ...(await (filters.length === 0 ? testAll() : testSome(filters)))]);
  console.log(`${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes in all`);
  console.log(closingLine(total));
  process.exitCode = isPassed(total) ? 0 : 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
