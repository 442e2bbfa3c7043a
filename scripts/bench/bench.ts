// `npm run bench`: everything in one run on one machine, one scenario after another; writes docs/performance.md.
// BENCH_SECONDS (default 60) is the time of each scenario, BENCH_ENGINE_SECONDS (default 15) that of each engine's.
// `node scripts/bench/write-behind.ts [ENGINE…]`, `bench/aggregate.ts` and `bench/game-thread.ts` measure those parts alone and write nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../build.ts';
import { measureAggregates } from './aggregate/measure-aggregates.ts';
import { measureBatches } from './batch/measure-batches.ts';
import { measureConnector } from './connector-scenario.ts';
import { measureEngines } from './engines/measure-engines.ts';
import { measureGameThread } from './game-thread/measure-game-thread.ts';
import { makeFolder, prepareTables } from './prepare.ts';
import { memoryOf, run, start } from './processes.ts';
import { type Measured, reportText } from './report.ts';
import { Scenarios } from './scenarios.ts';
import { measureQueue } from './write-behind/measure-queue.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = join(ROOT, 'docs/performance.md');
const SECONDS = Number(process.env.BENCH_SECONDS ?? '60');
const ENGINE_SECONDS = Number(process.env.BENCH_ENGINE_SECONDS ?? '15');

/** Parts that are measured after the first sidecar, with servers of their own. */
type Part = 'engines' | 'batches' | 'aggregates' | 'queue' | 'gameThread';

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await work();
  console.log(`${what} (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`);
  return result;
}

function machine(): string[] {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  const cpus = os.cpus();
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}, Node.js ${process.versions.node}`,
    `${cpus.length} × ${cpus[0]?.model ?? 'unknown processor'}, ${Math.round(os.totalmem() / 2 ** 30)} GB, ${os.type()} ${os.release()}`,
    `${SECONDS} s a scenario after 3 s of warming up, 64 keep-alive connections`,
  ];
}

async function measure(folder: string, secret: string): Promise<Omit<Measured, Part>> {
  const sidecar = start(
    ['dist/sidecar/main.js', '--config', join(folder, 'sidecar.json')],
    join(folder, 'sidecar.log'),
  );
  try {
    const port = await sidecar.until((line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      return entry.msg === 'listening' ? Number(new URL(String(entry.address)).port) : null;
    });
    await timed('Tables filled', () => prepareTables(port, secret));
    const scenarios = new Scenarios({ folder, port, pid: sidecar.process.pid as number, secret, seconds: SECONDS });
    const health = await timed('health', () => scenarios.load('health'));
    const bareHealth = await timed('bare Fastify, answers as of health', () => scenarios.bare('health', health));
    const find = await timed('find by key', () => scenarios.load('find'));
    const insert = await timed('durable inserts', () => scenarios.load('insertDurably'));
    const commitLoop = await timed('loop of commits', async () =>
      Number(await run(['scripts/bench/commit-loop.ts', folder, String(SECONDS)])),
    );
    const scan = await timed('finds beside 8 scans', () => scenarios.findBesideScans());
    const connector = await timed('connector in the standalone server', () => measureConnector(folder, port, SECONDS));
    const memory = memoryOf(sidecar.process.pid as number);
    return { health, bareHealth, find, insert, commitLoop, scan, connector, memory };
  } finally {
    await sidecar.stop();
  }
}

async function main(): Promise<void> {
  await buildIfStale(console.log);
  const { folder, secret } = makeFolder();
  try {
    const measured = await measure(folder, secret);
    const engines = await timed('engines', () => measureEngines(ENGINE_SECONDS));
    const batches = await timed('saving players', () => measureBatches(ENGINE_SECONDS));
    const aggregates = await timed('aggregates', () => measureAggregates(ENGINE_SECONDS));
    const queue = await timed('write-behind', () => measureQueue(ENGINE_SECONDS));
    const gameThread = await timed("the game's thread", () => measureGameThread(ENGINE_SECONDS));
    const before = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
    const text = reportText(machine(), { ...measured, engines, batches, aggregates, queue, gameThread }, before);
    writeFileSync(PAGE, text);
    console.log(`\n${text}\nWritten to docs/performance.md.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
