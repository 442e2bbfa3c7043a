// `npm test`: builds, provides servers, runs every check and every test, and closes with counts. `npm test -- PATH…` runs only
// those tests, ENGINES=sqlite,postgres only on those engines.
import { mkdirSync, rmSync } from 'node:fs';
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
import { minutesTable } from './check/minutes.ts';
import { binOf, check, type Outcome, run, runChecks } from './check/run-checks.ts';
import { chosenEngines, isServerEngine, urlVariableOf } from './servers/chosen-engines.ts';
import { provideChromium } from './servers/chromium-program.ts';
import { startServers, type TestServers } from './servers/start-servers.ts';
import { untestedKinds, untestedPrograms } from './servers/untested-kinds.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GAME_SERVER_NODE = 22;
const nodeRuntime: { fetchOther(root: string, major: number): string } = createRequire(import.meta.url)(
  './setup/node-runtime.cjs',
);
const REPORT = join(ROOT, '.cache/vitest.json');

async function buildCheck(): Promise<Outcome> {
  try {
    await buildIfStale(() => {});
    return { code: 0, output: '' };
  } catch (error) {
    return { code: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

/** Before the tests, because it takes longer than one of them may. What is missing is told at the end. */
async function provideBrowser(): Promise<void> {
  await provideChromium((line) => console.log(line)).catch(() => {});
}

/** Servers of this run, on the loopback; if paths are given, the tests start the servers that they need. */
async function provideServers(): Promise<TestServers> {
  const engines = chosenEngines(process.env).filter(isServerEngine);
  return startServers({ engines, hostile: true, say: (line) => console.log(line) });
}

/** Variables for the test runner: addresses of the servers, and which of them run on. */
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

async function runTests(filters: readonly string[], environment: NodeJS.ProcessEnv): Promise<TestRun> {
  mkdirSync(dirname(REPORT), { recursive: true });
  rmSync(REPORT, { force: true });
  const reporters = ['--reporter=default', `--reporter=${join(ROOT, 'scripts/check/count-reporter.ts')}`];
  const args = [binOf('vitest'), 'run', ...reporters, ...filters];
  const { code } = await run(args, true, { ...environment, COUNT_REPORT: REPORT });
  const report = readReport(REPORT);
  return { counts: countRun(report, code), report };
}

function showRepeated(report: RunReport | null): void {
  for (const line of repeatedCases(report)) console.log(`! ${line}`);
}

/**
 * FXServer runs scripts on a Node.js of its own (contract section 9), so what is loaded there is tested on that one too.
 *
 * @param missing gets a line if npm cannot provide it
 * @returns variables for the test runner
 */
function gameServerEnvironment(missing: Map<string, string>): NodeJS.ProcessEnv {
  if (process.versions.node.startsWith(`${GAME_SERVER_NODE}.`)) return {};
  try {
    return { GAME_SERVER_NODE: nodeRuntime.fetchOther(ROOT, GAME_SERVER_NODE) };
  } catch (error) {
    missing.set(`node${GAME_SERVER_NODE}`, error instanceof Error ? error.message : String(error));
    return {};
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
  const counts = await Promise.all(runChecks());
  const servers = await providing;
  await browser;
  try {
    console.log('Tests:');
    const missing = new Map(Object.entries(servers.missing));
    const environment = { ...serversEnvironment(servers), ...gameServerEnvironment(missing) };
    const { counts: tested, report } = await runTests([], environment);
    const untested = new Map([...missing, ...(await untestedKinds(servers)), ...(await untestedPrograms())]);
    showEngines(report, untested);
    showRepeated(report);
    console.log(minutesTable(report).join('\n'));
    return [...counts, tested, engineFailures(report, missing.size, Boolean(process.env.CI))];
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
