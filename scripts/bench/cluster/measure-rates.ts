import { setTimeout as wait } from 'node:timers/promises';
import type { GaleraCluster } from '#support/cluster/galera.ts';
import { freshDatabase } from '#support/databases.ts';
import { callApi } from '../call-api.ts';
import { declareItems, NAMESPACE, prepareItems } from '../engines/items.ts';
import { median } from '../median.ts';
import type { LoadKind } from '../payloads.ts';
import type { Served } from '../scenarios.ts';
import { fillAccounts } from '../transfer/measure-transfers.ts';
import { type BenchSidecar, withSidecars } from './bench-sidecar.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? '4');
/** Under way at one sidecar of three; a sidecar by itself has as many as in the other parts. */
const SHARE = 21;
const SPREAD_KINDS = { insert: 'insert', find: 'findByKey', batch: 'transferUniform' } as const;

export type SpreadKind = keyof typeof SPREAD_KINDS;

export interface SpreadFigure {
  readonly kind: SpreadKind;
  /** Calls a second of three sidecars together. */
  readonly onThree: number;
  readonly onOne: number;
}

export interface NonceFigure {
  readonly engine: 'PostgreSQL' | 'Galera';
  readonly alone: Rate;
  /** With a second sidecar alive; the client knows nothing of sidecars. */
  readonly foreign: Rate;
  /** The same, as the connector asks: its nonces name the sidecar. */
  readonly connector: Rate;
}

export interface Rate {
  readonly perSecond: number;
  /** Processor time of the sidecar for a call. */
  readonly cpuMicros: number;
}

/** Three sidecars on three nodes, and three on one, of the same cluster and database, by turns. */
export async function measureSpread(cluster: GaleraCluster, seconds: number): Promise<SpreadFigure[]> {
  const url = (first: number) => ({ provider: 'mysql', url: cluster.urlOf('sidecar', first) });
  return withSidecars([0, 1, 2, 0, 0, 0].map(url), seconds, async (sidecars) => {
    const [first] = sidecars as [BenchSidecar];
    await prepareItems(first.port, first.secret);
    await fillAccounts(first.port, first.secret);
    const figures: SpreadFigure[] = [];
    for (const [kind, load] of Object.entries(SPREAD_KINDS) as [SpreadKind, LoadKind][]) {
      const rates: [number[], number[]] = [[], []];
      // Before the first round that counts: code is compiled by then, and connections are open.
      for (const side of [0, 1]) await rateOf(sidecars.slice(side * 3, side * 3 + 3), load);
      for (let round = 0; round < ROUNDS * 2; round += 1) {
        const side = turn(round);
        rates[side].push(await rateOf(sidecars.slice(side * 3, side * 3 + 3), load));
      }
      figures.push({ kind, onThree: median(rates[0]), onOne: median(rates[1]) });
    }
    return figures;
  });
}

/** A, B, B, A: a machine that becomes slower touches both. */
function turn(round: number): 0 | 1 {
  return round % 4 === 0 || round % 4 === 3 ? 0 : 1;
}

async function rateOf(sidecars: readonly BenchSidecar[], kind: LoadKind): Promise<number> {
  const loads = sidecars.map(({ scenarios, instance }) => scenarios.load(kind, { connections: SHARE, instance }));
  return (await Promise.all(loads)).reduce((sum, { perSecond }) => sum + perSecond, 0);
}

/** `urls`: the servers of two empty databases, one for the sidecar that is alone. */
async function measureNonce(
  engine: NonceFigure['engine'],
  databases: readonly [object, object],
  seconds: number,
): Promise<NonceFigure> {
  const [alone, shared] = databases;
  return withSidecars([alone, shared, shared], seconds, async (sidecars) => {
    const [single, asked, beside] = sidecars as [BenchSidecar, BenchSidecar, BenchSidecar];
    for (const { port, secret } of [single, asked]) await declareItems(port, secret, NAMESPACE);
    await untilSeen(asked, beside);
    const served: Record<'alone' | 'foreign' | 'connector', Served[]> = { alone: [], foreign: [], connector: [] };
    const load: Record<keyof typeof served, () => Promise<Served>> = {
      alone: () => single.scenarios.load('insert'),
      foreign: () => asked.scenarios.load('insert'),
      connector: () => asked.scenarios.load('insert', { instance: asked.instance }),
    };
    // Both sidecars serve as many inserts, so that neither is warmer, or has the larger table.
    const order = ['alone', 'foreign', 'alone', 'connector'] as const;
    for (const who of order) await load[who]();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const who of round % 2 === 0 ? order : order.toReversed()) served[who].push(await load[who]());
    }
    const { alone, foreign, connector } = served;
    return { engine, alone: rateOfAll(alone), foreign: rateOfAll(foreign), connector: rateOfAll(connector) };
  });
}

async function untilSeen(sidecar: BenchSidecar, other: BenchSidecar): Promise<void> {
  for (;;) {
    const health = JSON.stringify(await callApi(sidecar.port, sidecar.secret, '/v1/health', {}));
    if (health.includes(other.instance)) break;
    await wait(200);
  }
}

export function rateOfAll(served: readonly Served[]): Rate {
  return {
    perSecond: median(served.map(({ perSecond }) => perSecond)),
    cpuMicros: median(served.map(({ cpuMicrosPerRequest }) => cpuMicrosPerRequest ?? Number.NaN)),
  };
}

export async function measureGaleraNonce(cluster: GaleraCluster, seconds: number): Promise<NonceFigure> {
  const names = ['sidecar_bench_alone', 'sidecar_bench_shared'];
  for (const name of names) await cluster.nodes[0]?.admin(`CREATE DATABASE ${name}`);
  // On a single node: neither side may find a database that is not there yet.
  const [node] = cluster.nodes;
  const databases = names.map((name) => ({ provider: 'mysql', url: `${node?.url}`.replace(/[^/]*$/, name) }));
  return measureNonce('Galera', databases as [object, object], seconds);
}

export async function measurePostgresNonce(serverUrl: string, seconds: number): Promise<NonceFigure> {
  const databases = [await freshDatabase('postgres', serverUrl), await freshDatabase('postgres', serverUrl)];
  try {
    const settings = databases.map(({ url }) => ({ provider: 'postgres', url }));
    return await measureNonce('PostgreSQL', settings as [object, object], seconds);
  } finally {
    for (const { drop } of databases) await drop();
  }
}
