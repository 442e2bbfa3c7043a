// `node scripts/bench/panel-api.ts`: what the panel costs the API. Two sidecars in turn, round after round: one without the panel, one
// whose panel runs a game server that talks, with open streams of events. Both get half of the largest rate of the one without.
// Printed, and written nowhere. BENCH_SECONDS (default 15) is the time of each part of a round, BENCH_ROUNDS (default 5).
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PanelClient } from '#test/panel/support/panel-client.ts';
import type { LoadResult } from './load.ts';
import type { LoadOptions } from './load-options.ts';
import { type BenchPanel, startBenchPanel } from './panel/bench-panel.ts';
import { openStreams } from './panel/open-streams.ts';
import { makeFolder, prepareTables } from './prepare.ts';
import { type Running, run, start } from './processes.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? '15');
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? '5');
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
const TARGET = 1.2;

interface Evening {
  readonly name: string;
  readonly lines: number;
  readonly streams: number;
}

const EVENINGS: readonly Evening[] = [
  { name: 'panel open in 3 windows, server says 20 lines/s', lines: 20, streams: 3 },
  { name: '50 streams, 2,000 lines/s', lines: 2000, streams: 50 },
];

interface Plain {
  readonly sidecar: Running;
  readonly apiPort: number;
  readonly secret: string;
  stop(): Promise<void>;
}

async function startPlain(): Promise<Plain> {
  const { folder, secret } = makeFolder();
  const sidecar = start(['sidecar/main.ts', '--config', join(folder, 'sidecar.json')], join(folder, 'sidecar.log'));
  const address = await sidecar.until((line) => /"service":"api","address":"([^"]+)"/.exec(line)?.[1] ?? null);
  return {
    ...{ sidecar, secret },
    apiPort: Number(new URL(address).port),
    async stop() {
      await sidecar.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function load({ apiPort, secret }: Pick<Plain, 'apiPort' | 'secret'>, rate?: number): Promise<LoadResult> {
  const options: LoadOptions = {
    ...{ port: apiPort, kind: 'find', kid: 'local', secret, connections: CONNECTIONS },
    ...{ seconds: SECONDS, warmUpSeconds: WARM_UP_SECONDS },
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
  };
  return JSON.parse(await run(['scripts/bench/load.ts', JSON.stringify(options)])) as LoadResult;
}

/** The game server talks only while its own sidecar is measured: else the other one would have less of the machine. */
async function busy<T>(panel: BenchPanel, client: PanelClient, { lines, streams }: Evening, work: () => Promise<T>) {
  await must(client.post('/api/server-config', { config: { startLine: panel.startLine(lines) } }));
  await must(client.post('/api/server/start'));
  const readers = await openStreams(panel, streams, true);
  try {
    return await work();
  } finally {
    for (const { sent } of readers) sent.destroy();
    await must(client.post('/api/server/force-stop'));
    while ((await stateOf(client)) !== 'stopped') await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function stateOf(client: PanelClient): Promise<unknown> {
  const { body } = await client.get<{ status: { state: string } }>('/api/status');
  return body.status.state;
}

async function must(answer: ReturnType<PanelClient['post']>): Promise<void> {
  const { status, text } = await answer;
  if (status !== 200) throw new Error(`the panel refused: ${status} ${text}`);
}

interface Round {
  readonly without: LoadResult;
  readonly with: LoadResult;
}

async function measure(plain: Plain, panel: BenchPanel, rate: number, evening: Evening): Promise<void> {
  const client = await panel.signIn();
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const without = await load(plain, rate);
    rounds.push({ without, with: await busy(panel, client, evening, () => load(panel, rate)) });
  }
  const p99 = (which: keyof Round, part: number) =>
    quantile(
      rounds.map((round) => round[which].p99Ms),
      part,
    );
  const p50 = (which: keyof Round) =>
    quantile(
      rounds.map((round) => round[which].p50Ms),
      0.5,
    );
  console.log(`${evening.name}:`);
  for (const which of ['without', 'with'] as const) {
    console.log(`  ${which.padEnd(7)} p50 ${p50(which).toFixed(2)} ms, p99 ${p99(which, 0.5).toFixed(2)} ms`);
  }
  const times = (part: number) => (p99('with', part) / p99('without', part)).toFixed(2);
  // Whatever else the machine does makes rounds slower, never quicker.
  console.log(
    `  p99 ${times(0.5)} times (median of ${ROUNDS} rounds), ${times(0.25)} in the quieter ones; target ${TARGET} at most`,
  );
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN;
}

const plain = await startPlain();
const panel = await startBenchPanel(1);
try {
  for (const { apiPort, secret } of [plain, panel]) await prepareTables(apiPort, secret, 0);
  const largest = await load(plain);
  const rate = Math.round(largest.perSecond / 2);
  console.log(`finds by key: ${Math.round(largest.perSecond)}/s at most without the panel; measured at ${rate}/s`);
  for (const evening of EVENINGS) await measure(plain, panel, rate, evening);
} finally {
  await plain.stop();
  await panel.stop();
}
