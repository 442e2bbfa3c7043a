// `npm run soak`: random programs against each engine, many more than `npm test` has time for; hours. Each engine's outcome is a
// line of docs/soak.md. DIFFERENTIAL_PROGRAMS (default 20000) and DIFFERENTIAL_SEED choose others, ENGINES narrows it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chosenEngines, type TestedEngine } from './servers/chosen-engines.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = join(ROOT, 'docs/soak.md');
const PROGRAMS = Number(process.env.DIFFERENTIAL_PROGRAMS ?? '20000');
const SEED = process.env.DIFFERENTIAL_SEED ?? String(Math.floor(Math.random() * 2 ** 31));

const HEAD = `# Soak

Written by \`npm run soak\`, a line a run: random programs of up to a hundred requests over the signed API, each answer compared
digit for digit with a plain model of the contract (CONTRIBUTING.md tells how a seed is replayed). What a run found is below.

| Date | Commit | Node.js | Engine | Programs | Seed | Minutes | Result |
|---|---|---|---|---|---|---|---|
`;

function commit(): string {
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', 'sidecar', 'test') === '' ? '' : ', changed'}`;
}

async function soak(engine: TestedEngine): Promise<boolean> {
  const startedMs = performance.now();
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', `--project=contract:${engine}`, 'test/contract/differential.test.ts'];
  const environment = { DIFFERENTIAL_PROGRAMS: String(PROGRAMS), DIFFERENTIAL_SEED: SEED, ENGINES: engine };
  const child = spawn(process.execPath, args, { cwd: ROOT, env: { ...process.env, ...environment }, stdio: 'inherit' });
  const [code] = await once(child, 'close');
  addLine(engine, (performance.now() - startedMs) / 60_000, code === 0);
  return code === 0;
}

/** Below the lines that are there, above what is written about them by hand. */
function addLine(engine: TestedEngine, minutes: number, isPassed: boolean): void {
  const text = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : HEAD;
  const date = new Date().toISOString().slice(0, 10);
  const cells = [date, commit(), process.versions.node, engine, PROGRAMS, SEED, minutes.toFixed(1)];
  const line = `| ${cells.join(' | ')} | ${isPassed ? 'no difference' : '**a difference**'} |\n`;
  const end = text.lastIndexOf('|\n') + '|\n'.length;
  writeFileSync(PAGE, text.slice(0, end) + line + text.slice(end));
}

const outcomes: boolean[] = [];
for (const engine of chosenEngines(process.env)) outcomes.push(await soak(engine));
process.exitCode = outcomes.every((isPassed) => isPassed) ? 0 : 1;
