import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Provider } from '#scripts/servers/chosen-engines.ts';
import { startCountingProxy } from '#scripts/servers/counting-proxy.ts';
import { type EngineName, startServers, type TestServers } from '#scripts/servers/start-servers.ts';
import { callApi } from '../call-api.ts';
import { makeFolder } from '../prepare.ts';
import { start } from '../processes.ts';
import { Scenarios, type Served } from '../scenarios.ts';
import { costTarget, type Target } from '../target.ts';
import { ENGINE_KINDS, type EngineKind, itemPayload, prepareItems } from './items.ts';

export type MeasuredEngine = Provider;

export interface EngineFigure {
  readonly engine: MeasuredEngine;
  readonly kind: EngineKind;
  readonly perSecond: number;
  readonly barePerSecond: number;
  readonly bareCpuMicros: number | null;
  /** The same over the stream; only the find by key is. */
  readonly stream: Served | null;
  /** Round trips of a call to the database; null for SQLite, which has none. */
  readonly roundTrips: number | null;
}

export const ENGINES: readonly MeasuredEngine[] = ['sqlite', 'postgres', 'mysql', 'mongodb'];
const COUNTED_CALLS = 50;

/** Every engine that can be had, durable as an owner runs it, one after another. */
export async function measureEngines(seconds: number): Promise<EngineFigure[]> {
  const servers = await startServers({ durable: true, say: console.log });
  try {
    for (const [engine, reason] of Object.entries(servers.missing)) console.log(`${engine} is not measured: ${reason}`);
    const figures: EngineFigure[] = [];
    for (const engine of ENGINES.filter((name) => name === 'sqlite' || servers[name] !== undefined)) {
      figures.push(...(await measureEngine(engine, servers, seconds)));
    }
    return figures;
  } finally {
    await servers.stop();
  }
}

async function measureEngine(engine: MeasuredEngine, servers: TestServers, seconds: number): Promise<EngineFigure[]> {
  const settings =
    engine === 'sqlite'
      ? { provider: engine, file: 'data/database.sqlite' }
      : { provider: engine, url: `${servers[engine]?.url}` };
  const { folder, secret } = makeFolder(settings);
  try {
    const roundTrips = await withSidecar(folder, async (port) => {
      await prepareItems(port, secret);
      return null;
    }).then(() => (engine === 'sqlite' ? null : countRoundTrips(engine, `${servers[engine]?.url}`)));
    return await withSidecar(folder, async (port, pid) => {
      const scenarios = new Scenarios({ folder, port, pid, secret, seconds });
      const figures: EngineFigure[] = [];
      for (const kind of ENGINE_KINDS) {
        const served = await scenarios.load(kind);
        const stream = kind === 'findByKey' ? await scenarios.load(kind, { transport: 'stream' }) : null;
        const bare = await loadBare(scenarios, kind, folder, settings);
        const [perSecond, barePerSecond] = [served.perSecond, bare.perSecond];
        console.log(
          `${engine} ${kind}: ${Math.round(perSecond)}/s, bare ${Math.round(barePerSecond)}/s, ${(perSecond / barePerSecond).toFixed(2)}`,
        );
        const figure = { engine, kind, perSecond, barePerSecond, bareCpuMicros: bare.cpuMicrosPerRequest, stream };
        figures.push({ ...figure, roundTrips: roundTrips?.get(kind) ?? null });
      }
      return figures;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function withSidecar<T>(
  folder: string,
  work: (port: number, pid: number) => Promise<T>,
  program = 'dist/sidecar/main.js',
): Promise<T> {
  const args = [program, '--config', join(folder, 'sidecar.json')];
  const sidecar = start(args, join(folder, 'sidecar.log'));
  try {
    const port = await sidecar.until((line) => {
      const entry = JSON.parse(line) as Record<string, unknown>;
      return entry.msg === 'listening' ? Number(new URL(String(entry.address)).port) : null;
    });
    return await work(port, sidecar.process.pid as number);
  } finally {
    await sidecar.stop();
  }
}

async function loadBare(scenarios: Scenarios, kind: EngineKind, folder: string, settings: object): Promise<Served> {
  const file = join(folder, 'bare.json');
  const place = 'file' in settings ? { file: join(folder, String(settings.file)) } : {};
  writeFileSync(file, JSON.stringify({ ...settings, ...place }), { mode: 0o600 });
  const server = start(['scripts/bench/engines/bare-database.ts', kind, file], join(folder, 'bare.log'));
  try {
    const port = await server.until((line) => Number(line));
    return await scenarios.load(kind, { port }, server.process.pid);
  } finally {
    await server.stop();
  }
}

/** Calls one after another through a proxy that counts; the first of a kind prepares its statement. */
async function countRoundTrips(engine: EngineName, url: string): Promise<Map<EngineKind, number>> {
  const proxy = await startCountingProxy(url);
  const { folder, secret } = makeFolder({ provider: engine, url: proxy.url, poolSize: 1 });
  try {
    return await withSidecar(folder, async (port) => {
      const counted = new Map<EngineKind, number>();
      for (const kind of ENGINE_KINDS) {
        const { path, next } = itemPayload(kind);
        await callApi(port, secret, path, next());
        const before = proxy.roundTrips();
        for (let call = 0; call < COUNTED_CALLS; call += 1) await callApi(port, secret, path, next());
        counted.set(kind, (proxy.roundTrips() - before) / COUNTED_CALLS);
      }
      return counted;
    });
  } finally {
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const TARGET = 0.6;

const WHAT: Readonly<Record<EngineKind, string>> = {
  findByKey: 'find by key',
  list20: 'filtered list of 20',
  insert: 'insert of one row',
  insert500: 'insert of 500 rows',
  inc: 'update with `inc`, by key',
  upsert: 'upsert of a row that exists',
};

/** Most of the processor time of bare Fastify with the bare driver. */
const MOST_OF_BARE: Readonly<Partial<Record<MeasuredEngine, number>>> = { postgres: 1.4, mysql: 1.3 };
const NAMES: Readonly<Record<MeasuredEngine, string>> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
  mysql: 'MariaDB',
  mongodb: 'MongoDB',
};

export function engineTargets(figures: readonly EngineFigure[]): Target[] {
  return figures.flatMap(({ engine, stream, bareCpuMicros }) => {
    const [most, micros] = [MOST_OF_BARE[engine], stream?.cpuMicrosPerRequest ?? null];
    if (most === undefined || micros === null || bareCpuMicros === null) return [];
    const what = `find by key over the stream against bare Fastify and driver, ${NAMES[engine]}: processor time a call`;
    return [costTarget(what, micros / bareCpuMicros, most, `${micros.toFixed(1)} of ${bareCpuMicros.toFixed(1)} µs`)];
  });
}

/** Table with a column for each engine; each cell is the ratio, the two rates, and the round trips that a call makes. */
export function engineSection(figures: readonly EngineFigure[]): string {
  const engines = [...new Set(figures.map(({ engine }) => engine))];
  const rows = ENGINE_KINDS.map((kind) => `| ${WHAT[kind]} | ${cells(figures, engines, kind).join(' | ')} |`);
  return `
## Engines

Each operation against a bare, unsigned Fastify POST that runs the same statement through the bare driver with as many connections, asked by the
same generator (target: ${TARGET} at 64 connections). In brackets the calls a second of both, and the round trips to the server
that one call makes (target: 1). Servers wait for the disk at each commit.

| | ${engines.join(' | ')} |
|---|${engines.map(() => '---|').join('')}
${rows.join('\n')}
`;
}

function cells(figures: readonly EngineFigure[], engines: readonly MeasuredEngine[], kind: EngineKind): string[] {
  return engines.map((engine) => {
    const figure = figures.find((candidate) => candidate.engine === engine && candidate.kind === kind);
    return figure === undefined ? '' : cell(figure);
  });
}

function cell({ perSecond, barePerSecond, roundTrips }: EngineFigure): string {
  const ratio = perSecond / barePerSecond;
  const count = (value: number): string => Math.round(value).toLocaleString('en');
  const trips = roundTrips === null ? '' : `; ${Number(roundTrips.toFixed(2))}`;
  return `${ratio >= TARGET ? ratio.toFixed(2) : `**${ratio.toFixed(2)}**`} (${count(perSecond)} of ${count(barePerSecond)}${trips})`;
}
