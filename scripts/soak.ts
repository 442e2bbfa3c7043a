// `npm run soak`: what `npm test` has no time for, in the same tests; hours. `npm run soak -- kills` makes one of its parts only,
// ENGINES narrows it to some engines. Each run is a line of docs/soak.md. SIGINT or SIGTERM, or the end of SOAK_MINUTES, ends a run
// of faults after the one that is under way, and the line says how many there were.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chosenEngines, type TestedEngine } from './servers/chosen-engines.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = join(ROOT, 'docs/soak.md');
/** The same on each engine. */
const RANDOM_SEED = String(Math.floor(Math.random() * 2 ** 31));

const HEAD = `# Soak

Written by \`npm run soak\`, a line a run. Programs: random ones of up to a hundred requests over the signed API, each answer compared
digit for digit with a plain model of the contract. Kills: \`kill -9\` of a sidecar with write-behind under load, every
acknowledged write looked for afterwards. Away: a database that is stopped and hangs for minutes under load. Frames: calls of a stream
whose bytes are broken in every way, against a real sidecar. Cluster: three sidecars on a Galera cluster, two on a pair of PostgreSQL, under load of
inserts, increments, transfers, upserts, deletes, finds and requests that are sent to two sidecars; nodes are killed, frozen, cut off, and come back
after an end in order or without data; standbys are promoted; sidecars are killed, have a wrong clock, or are stopped in a schema change beyond
their lease. Every acknowledged write is looked for afterwards at every sidecar. docs/testing.md tells how a seed is replayed. What a run found is below.

| Date | Commit | Node.js | Engine | What | Seed | Minutes | Result |
|---|---|---|---|---|---|---|---|
`;

interface Scenario {
  /** How much of it, unless its variable says otherwise. */
  readonly amount: number;
  readonly amountVariable: string;
  readonly seedVariable: string;
  /** Project of the test runner, beside the file. */
  project(engine: TestedEngine): string;
  file(engine: TestedEngine): string;
  what(amount: number): string;
  readonly found: string;
  /** The engines it runs on; the others would add nothing. Default: each. */
  readonly engines?: readonly TestedEngine[];
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  programs: {
    amount: 20_000,
    amountVariable: 'DIFFERENTIAL_PROGRAMS',
    seedVariable: 'DIFFERENTIAL_SEED',
    project: (engine) => `contract:${engine}`,
    file: () => 'test/contract/differential.test.ts',
    what: (amount) => `${amount} programs`,
    found: 'a difference',
  },
  kills: {
    amount: 1000,
    amountVariable: 'WRITE_BEHIND_KILLS',
    seedVariable: 'WRITE_BEHIND_SEED',
    project: (engine) => `contract:${engine}`,
    file: () => 'test/e2e/write-behind-kill.test.ts',
    what: (amount) => `${amount} kills`,
    found: 'a broken promise',
  },
  away: {
    amount: 180,
    amountVariable: 'WRITE_BEHIND_DOWN_SECONDS',
    seedVariable: 'WRITE_BEHIND_SEED',
    project: () => 'waiting',
    file: (engine) => `test/faults/write-behind-${engine}.test.ts`,
    what: (amount) => `${amount} s away`,
    found: 'a broken promise',
  },
  cluster: {
    amount: 1000,
    amountVariable: 'CLUSTER_FAULTS',
    seedVariable: 'CLUSTER_SEED',
    project: () => 'cluster',
    file: (engine) => `test/cluster/${engine === 'mysql' ? 'galera' : engine}-faults.test.ts`,
    what: (amount) => `${amount} faults of a cluster`,
    found: 'a broken promise',
    engines: ['mysql', 'postgres'],
  },
  frames: {
    amount: 1_000_000,
    amountVariable: 'STREAM_FUZZ_FRAMES',
    seedVariable: 'STREAM_FUZZ_SEED',
    project: () => 'sidecar',
    file: () => 'test/stream/fuzz.test.ts',
    what: (amount) => `${amount} broken frames`,
    found: 'a broken promise',
    engines: ['sqlite'],
  },
};

function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'sidecar', 'test') === '' ? '' : ', changed'}`;
}

async function soak(scenario: Scenario, engine: TestedEngine): Promise<boolean> {
  const { amountVariable, seedVariable } = scenario;
  const amount = Number(process.env[amountVariable] ?? scenario.amount);
  const seed = process.env[seedVariable] ?? RANDOM_SEED;
  const startedMs = performance.now();
  // Commit of the running code; the tree may hold another one when the run ends.
  const tested = commit();
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', `--project=${scenario.project(engine)}`, scenario.file(engine)];
  const folder = mkdtempSync(join(tmpdir(), 'soak-'));
  const [report, stop] = [join(folder, 'report.json'), join(folder, 'stop')];
  const environment = {
    ...{ [amountVariable]: String(amount), [seedVariable]: seed, ENGINES: engine },
    ...{ SOAK_REPORT: report, SOAK_STOP: stop },
  };
  // In a group of its own: an interrupt of the terminal is not its end.
  const options = { cwd: ROOT, env: { ...process.env, ...environment }, stdio: 'inherit', detached: true } as const;
  const child = spawn(process.execPath, args, options);
  const endSoon = (): void => writeFileSync(stop, '');
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, endSoon);
  const timer = setTimeout(endSoon, Number(process.env.SOAK_MINUTES ?? 24 * 60) * 60_000);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  for (const signal of signals) process.off(signal, endSoon);
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  const result = code === 0 ? 'nothing found' : `**${scenario.found}**`;
  const what = scenario.what(doneOf(report, amount));
  addLine([today(), tested, process.versions.node, engine, what, seed, minutes, result]);
  rmSync(folder, { recursive: true });
  return code === 0;
}

/** How much a run has done: one that may be stopped early tells it. */
function doneOf(report: string, amount: number): number {
  return existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as { amount: number }).amount : amount;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Below the lines that are there, above what is written about them by hand. */
function addLine(cells: readonly string[]): void {
  const text = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : HEAD;
  const end = text.lastIndexOf('|\n') + '|\n'.length;
  writeFileSync(PAGE, `${text.slice(0, end)}| ${cells.join(' | ')} |\n${text.slice(end)}`);
}

function chosenScenarios(names: readonly string[]): Scenario[] {
  return (names.length === 0 ? Object.keys(SCENARIOS) : names).map((name) => {
    const scenario = SCENARIOS[name];
    if (scenario === undefined) {
      process.stderr.write(`soak: expected some of ${Object.keys(SCENARIOS).join(', ')}, got ${name}\n`);
      process.exit(2);
    }
    return scenario;
  });
}

const outcomes: boolean[] = [];
for (const scenario of chosenScenarios(process.argv.slice(2))) {
  const chosen = chosenEngines(process.env);
  const engines = scenario.engines?.filter((engine) => chosen.includes(engine)) ?? chosen;
  for (const engine of engines) outcomes.push(await soak(scenario, engine));
}
process.exitCode = outcomes.every((isPassed) => isPassed) ? 0 : 1;
