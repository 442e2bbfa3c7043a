import { startServers } from '#scripts/servers/start-servers.ts';
import { freshDatabase } from '#support/databases.ts';
import { prepareItems } from '../engines/items.ts';
import type { LoadKind } from '../payloads.ts';
import type { Served } from '../scenarios.ts';
import { programBefore } from '../sidecar/measure-transports.ts';
import { fillAccounts } from '../transfer/measure-transfers.ts';
import { type BenchSidecar, startBenchSidecar } from './bench-sidecar.ts';
import { type Rate, rateOfAll } from './measure-rates.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? '4');

/** A single sidecar, of this build and of an earlier one. */
export interface OneBoxFigure {
  readonly engine: 'PostgreSQL' | 'MongoDB';
  readonly kind: string;
  readonly now: Rate;
  readonly before: Rate;
}

const CALLS = {
  PostgreSQL: { insert: 'insert', find: 'findByKey', batch: 'transferUniform', 'insert with a key': 'insertKeyed' },
  MongoDB: { insert: 'insert', 'insert with a key': 'insertKeyed' },
} as const satisfies Record<OneBoxFigure['engine'], Record<string, LoadKind>>;

/** Empty without BENCH_BEFORE. */
export async function measureOneBox(seconds: number): Promise<OneBoxFigure[]> {
  const program = programBefore();
  if (program === null) return [];
  const servers = await startServers({ engines: ['postgres', 'mongodb'], durable: true, say: console.log });
  try {
    const figures: OneBoxFigure[] = [];
    for (const [engine, provider] of [['PostgreSQL', 'postgres'] as const, ['MongoDB', 'mongodb'] as const]) {
      const server = servers[provider];
      if (server === undefined) throw new Error(`${engine} cannot be had: ${servers.missing[provider]}`);
      figures.push(...(await measureEngine(engine, { provider, serverUrl: server.url, program, seconds })));
    }
    return figures;
  } finally {
    await servers.stop();
  }
}

interface Place {
  readonly provider: 'postgres' | 'mongodb';
  readonly serverUrl: string;
  /** Main program of the earlier build. */
  readonly program: string;
  readonly seconds: number;
}

async function measureEngine(engine: OneBoxFigure['engine'], place: Place): Promise<OneBoxFigure[]> {
  const { provider, serverUrl, program, seconds } = place;
  const databases = [await freshDatabase(provider, serverUrl), await freshDatabase(provider, serverUrl)];
  const sidecars: BenchSidecar[] = [];
  try {
    for (const [index, { url }] of databases.entries()) {
      const build = index === 0 ? {} : { program };
      sidecars.push(await startBenchSidecar({ database: { provider, url }, seconds, ...build }));
    }
    for (const { port, secret } of sidecars) {
      await prepareItems(port, secret);
      await fillAccounts(port, secret);
    }
    const figures: OneBoxFigure[] = [];
    for (const [kind, load] of Object.entries(CALLS[engine])) {
      figures.push({ engine, kind, ...(await bothOf(sidecars as [BenchSidecar, BenchSidecar], load)) });
    }
    return figures;
  } finally {
    for (const sidecar of sidecars) await sidecar.stop();
    for (const { drop } of databases) await drop();
  }
}

/** By turns, A, B, B, A: a machine that becomes slower touches both. The first round of each does not count. */
async function bothOf([now, before]: readonly [BenchSidecar, BenchSidecar], load: LoadKind) {
  const served: Record<'now' | 'before', Served[]> = { now: [], before: [] };
  const sides = { now, before };
  for (const { scenarios } of [now, before]) await scenarios.load(load);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? (['now', 'before'] as const) : (['before', 'now'] as const)) {
      served[side].push(await sides[side].scenarios.load(load));
    }
  }
  return { now: rateOfAll(served.now), before: rateOfAll(served.before) };
}
