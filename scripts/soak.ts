// `npm run soak`: what `npm test` has no time for, in the same tests; hours. `npm run soak -- kills` makes one of its parts only,
// ENGINES narrows it to some engines. Each run is a line of docs/soak.md.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
whose bytes are broken in every way, against a real sidecar. Cluster: nodes of a Galera cluster that are killed, frozen or cut off, and sidecars
that are killed, under load of inserts, increments and transfers, each acknowledged write looked for afterwards at every sidecar. docs/testing.md tells
how a seed is replayed. What a run found is below.

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
  /** The only engine it runs on; the others would add nothing. Default: each. */
  readonly engine?: TestedEngine;
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
    file: () => 'test/cluster/galera-faults.test.ts',
    what: (amount) => `${amount} faults of a Galera cluster`,
    found: 'a broken promise',
    engine: 'mysql',
  },
  frames: {
    amount: 1_000_000,
    amountVariable: 'STREAM_FUZZ_FRAMES',
    seedVariable: 'STREAM_FUZZ_SEED',
    project: () => 'sidecar',
    file: () => 'test/stream/fuzz.test.ts',
    what: (amount) => `${amount} broken frames`,
    found: 'a broken promise',
    engine: 'sqlite',
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
  const environment = { [amountVariable]: String(amount), [seedVariable]: seed, ENGINES: engine };
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...environment }, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  const result = code === 0 ? 'nothing found' : `**${scenario.found}**`;
  addLine([today(), tested, process.versions.node, engine, scenario.what(amount), seed, minutes, result]);
  return code === 0;
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
  const engines = scenario.engine === undefined ? chosenEngines(process.env) : [scenario.engine];
  for (const engine of engines) outcomes.push(await soak(scenario, engine));
}
process.exitCode = outcomes.every((isPassed) => isPassed) ? 0 : 1;
