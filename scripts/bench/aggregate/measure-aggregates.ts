import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServers, type TestServers } from '#scripts/servers/start-servers.ts';
import { callApi } from '../call-api.ts';
import { ENGINES, type MeasuredEngine, withSidecar } from '../engines/measure-engines.ts';
import { median } from '../median.ts';
import { makeFolder } from '../prepare.ts';
import { start } from '../processes.ts';
import { count, speedTarget, type Target } from '../target.ts';

/** Rows, groups of them, and how long one aggregate over all of them took, as the median. */
export interface AggregateFigure {
  readonly engine: MeasuredEngine;
  readonly ms: number;
  readonly bareMs: number;
}

/** BENCH_LEDGER_ROWS makes a trial short. */
export const LEDGER_ROWS = Number(process.env.BENCH_LEDGER_ROWS ?? '1000000');
export const LEDGER_GROUPS = 100;
const ROWS_PER_INSERT = 1000;
const INSERTS_AT_A_TIME = 4;
const WARMING_UP = 2;
const MIN_PAIRS = 5;
/** A statement over all rows takes MongoDB longer than the usual limit on a slow machine. */
const LONGEST_MS = 60_000;

const COLUMNS = [
  { name: 'id', type: 'int64' },
  { name: 'grp', type: 'int32' },
  { name: 'amount', type: 'int64' },
  { name: 'price', type: 'decimal', precision: 18, scale: 4 },
];
const AGGREGATE = {
  ...{ namespace: 'bench', table: 'ledger', groupBy: ['grp'] },
  values: [
    { as: 'n', fn: 'count' },
    { as: 'amounts', fn: 'sum', field: 'amount' },
    { as: 'prices', fn: 'sum', field: 'price' },
  ],
};

/** A single aggregate by group at a time, in turns with the bare server. */
export async function measureAggregates(seconds: number): Promise<AggregateFigure[]> {
  const servers = await startServers({ durable: true, say: console.log });
  try {
    const figures: AggregateFigure[] = [];
    for (const engine of ENGINES.filter((name) => name === 'sqlite' || servers[name] !== undefined)) {
      const figure = await measureEngine(engine, servers, seconds);
      console.log(`${engine} aggregate: ${figure.ms.toFixed(1)} ms, bare ${figure.bareMs.toFixed(1)} ms`);
      figures.push(figure);
    }
    return figures;
  } finally {
    await servers.stop();
  }
}

async function measureEngine(engine: MeasuredEngine, servers: TestServers, seconds: number): Promise<AggregateFigure> {
  const url = engine === 'sqlite' ? null : `${servers[engine]?.url}`;
  const settings = url === null ? { provider: engine, file: 'data/database.sqlite' } : { provider: engine, url };
  const { folder, secret } = makeFolder(
    { ...settings, statementTimeoutMs: LONGEST_MS },
    {},
    { requestTimeoutMs: 2 * LONGEST_MS },
  );
  try {
    return await withSidecar(folder, async (port) => {
      await fillLedger(port, secret);
      const place = url === null ? { file: join(folder, 'data/database.sqlite') } : {};
      const file = join(folder, 'bare.json');
      writeFileSync(file, JSON.stringify({ ...settings, ...place }), { mode: 0o600 });
      const bare = start(['scripts/bench/aggregate/bare-aggregate.ts', file], join(folder, 'bare.log'));
      try {
        const barePort = await bare.until((line) => Number(line));
        const ask = () => callApi(port, secret, '/v1/data/aggregate', AGGREGATE);
        const pairs = await inTurns(seconds, ask, () => askBare(barePort));
        return { engine, ms: median(pairs.map(([ms]) => ms)), bareMs: median(pairs.map(([, ms]) => ms)) };
      } finally {
        await bare.stop();
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fillLedger(port: number, secret: string): Promise<void> {
  const schema = { tables: [{ name: 'ledger', primaryKey: ['id'], columns: COLUMNS }] };
  await callApi(port, secret, '/v1/schema/sync', { namespace: 'bench', schema });
  const starts = Array.from({ length: LEDGER_ROWS / ROWS_PER_INSERT }, (_, index) => index * ROWS_PER_INSERT).values();
  const insert = async (): Promise<void> => {
    for (const first of starts) {
      const rows = Array.from({ length: ROWS_PER_INSERT }, (_, index) => rowOf(first + index));
      await callApi(port, secret, '/v1/data/insert', { namespace: 'bench', table: 'ledger', rows });
    }
  };
  await Promise.all(Array.from({ length: INSERTS_AT_A_TIME }, insert));
}

function rowOf(id: number): object {
  return { id, grp: id % LEDGER_GROUPS, amount: (id * 7919) % 100_003, price: ((id * 31) % 1_000_003) / 16 };
}

async function askBare(port: number): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}/aggregate`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
  });
  return response.json();
}

async function inTurns(
  seconds: number,
  ask: () => Promise<unknown>,
  askBareOne: () => Promise<unknown>,
): Promise<[number, number][]> {
  for (let count = 0; count < WARMING_UP; count += 1) mustHaveGroups(await ask(), await askBareOne());
  const pairs: [number, number][] = [];
  const until = performance.now() + 1000 * seconds;
  while (performance.now() < until || pairs.length < MIN_PAIRS) pairs.push([await took(ask), await took(askBareOne)]);
  return pairs;
}

/** A server that answers something else would be measured at doing something else. */
function mustHaveGroups(...answers: readonly unknown[]): void {
  for (const answer of answers as { rows?: unknown[] }[]) {
    if (answer.rows?.length !== LEDGER_GROUPS)
      throw new Error(`not ${LEDGER_GROUPS} groups: ${JSON.stringify(answer)}`);
  }
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Share of the bare rate. */
const LEAST: Readonly<Record<MeasuredEngine, number>> = { sqlite: 1.2, postgres: 0.95, mysql: 0.95, mongodb: 0.9 };

export function aggregateTargets(figures: readonly AggregateFigure[], isQuiet: boolean): Target[] {
  return figures.map(({ engine, ms, bareMs }) => {
    const what = `aggregate over ${count(LEDGER_ROWS)} rows against the bare driver, ${engine}: share of its rate`;
    return speedTarget(what, bareMs / ms, LEAST[engine], `${ms.toFixed(0)} ms, bare ${bareMs.toFixed(0)} ms`, isQuiet);
  });
}

/** Table with a column for each engine. */
export function aggregateSection(figures: readonly AggregateFigure[]): string {
  const cells = figures.map(({ engine, ms, bareMs }) => {
    const ratio = bareMs / ms;
    const text = ratio >= LEAST[engine] ? ratio.toFixed(2) : `**${ratio.toFixed(2)}**`;
    return `${text} (${ms.toFixed(0)} ms, bare ${bareMs.toFixed(0)} ms)`;
  });
  return `
## Aggregates

Count, sum of an int64 and sum of a decimal(18,4) over ${count(LEDGER_ROWS)} rows in ${LEDGER_GROUPS} groups, one at a time, in turns with a bare,
unsigned Fastify POST that runs the same statement through the bare driver; medians, and the rate as a share of the bare one.

| | ${figures.map(({ engine }) => engine).join(' | ')} |
|---|${figures.map(() => '---|').join('')}
| \`aggregate\` by group | ${cells.join(' | ')} |
`;
}
