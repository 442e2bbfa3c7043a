// `node scripts/bench/against.ts [FOLDER]`: POST and stream of this checkout beside POST of another checkout (all built before),
// on SQLite, in one run: processor time per call in microseconds, start-up and sync in milliseconds, in short rounds by turns,
// so that a busy machine touches all alike. Without FOLDER: the stream beside POST. Prints a table with medians, and the ratios to
// the first side as median (smallest to largest) of the rounds; writes nothing.
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callApi } from './call-api.ts';
import { declareItems, prepareItems } from './engines/items.ts';
import { median } from './median.ts';
import type { LoadKind } from './payloads.ts';
import { QUEUED_NAMESPACE } from './payloads.ts';
import { makeFolder } from './prepare.ts';
import { cpuMicrosOf, type Running, start } from './processes.ts';
import { Scenarios } from './scenarios.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? '10');
const PROGRAM = 'dist/sidecar/main.js';
const STARTS = Number(process.env.BENCH_STARTS ?? '7');
const TABLES = 100;
const CALLS = Number(process.env.BENCH_CALLS ?? '4000');
const KINDS: readonly LoadKind[] = (process.env.BENCH_KINDS?.split(',') ?? [
  'health',
  'findByKey',
  'list20',
  'insert',
  'insertQueued',
]) as LoadKind[];
/** For V8 to optimise what is measured. */
const WARM_UP_CALLS = 5 * CALLS;
/** Other programs may hold the processors for longer than a call may take by default. */
const PATIENT = { requestTimeoutMs: 120_000 };
const ROOMY = { maxPending: 10_000_000, maxJournalMegabytes: 100_000, namespaces: { [QUEUED_NAMESPACE]: {} } };

interface Variant {
  readonly build: string;
  readonly transport: 'post' | 'stream';
}

/** With a database of its own. */
interface Side extends Variant {
  readonly folder: string;
  readonly secret: string;
}

interface Served {
  readonly port: number;
  readonly pid: number;
  readonly sidecar: Running;
}

function sideOf(variant: Variant): Side {
  return {
    ...variant,
    ...makeFolder({ provider: 'sqlite', file: 'data/database.sqlite', statementTimeoutMs: 110_000 }, ROOMY, PATIENT),
  };
}

async function serve({ build, folder }: Side): Promise<Served> {
  const program = join(build, PROGRAM);
  const sidecar = start([program, '--config', join(folder, 'sidecar.json')], join(folder, 'sidecar.log'));
  const port = await sidecar.until((line) => {
    const entry = JSON.parse(line) as Record<string, unknown>;
    return entry.msg === 'listening' ? Number(new URL(String(entry.address)).port) : null;
  });
  return { port, pid: sidecar.process.pid as number, sidecar };
}

/** Milliseconds of processor time, on Linux. */
function cpuMs(pid: number): number {
  const micros = cpuMicrosOf(pid);
  if (micros === null) throw new Error('processor time of another process is read on Linux only');
  return micros / 1000;
}

/** Start-up, then a first sync of 100 tables, in a new folder. */
async function startOnce(variant: Variant): Promise<{ startUp: number; sync: number }> {
  const side = sideOf(variant);
  const { port, pid, sidecar } = await serve(side);
  try {
    const startUp = cpuMs(pid);
    const columns = ['id', 'owner', 'amount', 'place', 'state'].map((name) => ({ name, type: 'int64' }));
    const tables = Array.from({ length: TABLES }, (_, n) => ({
      name: `table_${n}`,
      primaryKey: ['id'],
      columns,
      indexes: [{ name: 'by_owner', columns: ['owner'] }],
    }));
    await callApi(port, side.secret, '/v1/schema/sync', { namespace: 'many', schema: { tables } });
    return { startUp, sync: cpuMs(pid) - startUp };
  } finally {
    await sidecar.stop();
    rmSync(side.folder, { recursive: true, force: true });
  }
}

async function startsOf(builds: readonly Variant[]): Promise<[string, number[][]][]> {
  const startUps: number[][] = builds.map(() => []);
  const syncs: number[][] = builds.map(() => []);
  for (let round = 0; round < STARTS; round += 1) {
    for (const index of turns(builds.length, round)) {
      const { startUp, sync } = await startOnce(builds[index] as Variant);
      startUps[index]?.push(startUp);
      syncs[index]?.push(sync);
    }
  }
  return [
    ['start-up', startUps],
    [`first sync of ${TABLES} tables`, syncs],
  ];
}

/** Order of the builds in a round; it is reversed in every second one. */
function turns(count: number, round: number): number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  return round % 2 === 0 ? order : order.reverse();
}

async function callsOf(builds: readonly Variant[]): Promise<[string, number[][]][]> {
  const sides = builds.map(sideOf);
  const served: Served[] = [];
  try {
    for (const side of sides) {
      const running = await serve(side);
      served.push(running);
      await prepareItems(running.port, side.secret);
      await declareItems(running.port, side.secret, QUEUED_NAMESPACE);
    }
    const rows: [string, number[][]][] = [];
    for (const kind of KINDS) rows.push([kind, await roundsOf(kind, sides, served)]);
    return rows;
  } finally {
    for (const { sidecar } of served) await sidecar.stop();
    for (const { folder } of sides) rmSync(folder, { recursive: true, force: true });
  }
}

async function roundsOf(kind: LoadKind, sides: readonly Side[], served: readonly Served[]): Promise<number[][]> {
  const results: number[][] = sides.map(() => []);
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const index of turns(sides.length, round)) {
      const [side, { port, pid }] = [sides[index] as Side, served[index] as Served];
      const scenarios = new Scenarios({ folder: side.folder, port, pid, secret: side.secret, seconds: 300 });
      const { cpuMicrosPerRequest } = await scenarios.load(kind, {
        maxRequests: round < 0 ? WARM_UP_CALLS : CALLS,
        warmUpSeconds: 0,
        transport: side.transport,
      });
      if (kind === 'insertQueued') await callApi(port, side.secret, '/v1/data/flush', { namespace: QUEUED_NAMESPACE });
      // The first round warms all up.
      if (round >= 0) results[index]?.push(cpuMicrosPerRequest as number);
    }
  }
  return results;
}

function variants(): Variant[] {
  const here = fileURLToPath(new URL('../..', import.meta.url));
  const [, , other] = process.argv;
  const chosen: Variant[] = [
    ...(other === undefined ? [] : [{ build: resolve(other), transport: 'post' as const }]),
    { build: here, transport: 'post' },
    { build: here, transport: 'stream' },
  ];
  const missing = chosen.find(({ build }) => !existsSync(join(build, PROGRAM)));
  if (missing !== undefined) throw new Error(`${missing.build} is not built: npm run build`);
  return chosen;
}

async function main(): Promise<void> {
  const chosen = variants();
  const rows = [...(STARTS > 0 ? await startsOf(chosen) : []), ...(await callsOf(chosen))];
  const names = chosen.length > 2 ? ['before', 'POST', 'stream'] : ['POST', 'stream'];
  console.log(`| What | ${names.join(' | ')} | ${names.slice(1).join(' : 1st | ')} : 1st |`);
  console.log(`|---${'|---:'.repeat(2 * names.length - 1)}|`);
  for (const [what, sides] of rows) {
    const medians = sides.map(median);
    const ratios = sides.slice(1).map((side) => ratioText(side, sides[0] as number[]));
    console.log(`| ${[what, ...medians.map((value) => value.toFixed(1)), ...ratios].join(' | ')} |`);
  }
}

/** Each round is a ratio of its own, as its sides ran one after another. */
function ratioText(side: readonly number[], first: readonly number[]): string {
  const ratios = side.map((value, round) => value / (first[round] as number));
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(3)} (${least.toFixed(3)} to ${most.toFixed(3)})`;
}

await main();
