import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shipBundle } from '../../scripts/build/shipped-bundles.ts';
import { startServers } from '../../scripts/servers/start-servers.ts';
import { prepareItems } from '../engines/items.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import type { LoadName } from '../game_load/loads.ts';
import type { ThreadFigures } from '../game_load/thread-watch.ts';
import { callApi, makeFolder } from '../prepare.ts';
import { start } from '../processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WARM_UP_SECONDS = 10;

/** What a load did to the thread of a game server in its own process. */
export interface LoadFigure {
  readonly calls: number;
  /** Without answer, or with another one than the load wants. */
  readonly errors: number;
  /** Of the thread's processor time, for each call by itself; null where the load does not measure that. */
  readonly cost: { readonly medianMs: number; readonly maxMs: number } | null;
  readonly thread: ThreadFigures;
}

/** By load; null where there is no MariaDB. */
export type GameThreadFigures = Readonly<Record<LoadName, LoadFigure | null>>;

/** Each load in a game server of its own, one after another: with the connector, and with `mysql2` in the game's thread. */
export async function measureGameThread(seconds: number): Promise<GameThreadFigures> {
  const servers = await startServers({ durable: true, engines: ['mysql'], say: console.log });
  try {
    if (servers.mysql === undefined) console.log(`mysql is not measured: ${servers.missing.mysql}`);
    const onSqlite = await measureLoads(seconds, ['saves', 'rows', 'text'], null);
    const onMysql = await measureLoads(seconds, ['mixed', 'mysql2', 'mysql2AndCodec'], servers.mysql?.url ?? null);
    return { ...onSqlite, ...onMysql } as GameThreadFigures;
  } finally {
    await servers.stop();
  }
}

async function measureLoads(
  seconds: number,
  loads: readonly LoadName[],
  mysqlUrl: string | null,
): Promise<Partial<GameThreadFigures>> {
  if (mysqlUrl === null && loads.includes('mysql2')) return Object.fromEntries(loads.map((load) => [load, null]));
  const { folder, secret } = makeFolder(mysqlUrl === null ? undefined : { provider: 'mysql', url: mysqlUrl });
  try {
    return await withSidecar(folder, async (port) => {
      await prepareItems(port, secret);
      await prepareSaves(port, secret);
      makeServer(folder, port);
      const figures: Partial<Record<LoadName, LoadFigure>> = {};
      for (const load of loads) figures[load] = await measureLoad(folder, load, seconds, mysqlUrl ?? '');
      return figures;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** 200 players whose data is saved again and again. */
async function prepareSaves(port: number, secret: string): Promise<void> {
  const part = 'saves';
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'data', type: 'json' },
  ];
  const schema = { tables: [{ name: 'saves', primaryKey: ['id'], columns }] };
  await callApi(port, secret, '/v1/schema/extend', { namespace: 'bench', part, schema });
  const rows = Array.from({ length: 200 }, (_, index) => ({ id: 1 + index, data: {} }));
  await callApi(port, secret, '/v1/data/insert', { namespace: 'bench', table: 'saves', rows });
}

/** The connector as it is shipped, and the bundle that brings the load. */
function makeServer(folder: string, port: number): void {
  mkdirSync(join(folder, 'server/bundles'), { recursive: true });
  shipBundle(join(ROOT, 'dist/db_connector'), join(folder, 'server/bundles/db_connector'));
  shipBundle(join(ROOT, 'bench/game_load'), join(folder, 'server/bundles/game_load'));
  const settings = {
    url: `http://127.0.0.1:${port}`,
    keyId: 'local',
    secretFile: 'secrets/local.secret',
    namespaces: ['bench'],
  };
  writeFileSync(join(folder, 'database.json'), JSON.stringify(settings));
}

async function measureLoad(folder: string, load: LoadName, seconds: number, mysqlUrl: string): Promise<LoadFigure> {
  Object.assign(process.env, {
    BENCH_LOAD: load,
    BENCH_SECONDS: String(seconds),
    BENCH_WARM_UP_SECONDS: String(WARM_UP_SECONDS),
    BENCH_MYSQL_URL: mysqlUrl,
  });
  const profile = process.env.BENCH_PROFILE === load ? ['--cpu-prof', `--cpu-prof-dir=${join(ROOT, '.cache')}`] : [];
  const args = [...profile, 'dist/standalone/main.js', '--root', join(folder, 'server'), '--vfs', folder];
  const server = start(args, join(folder, `${load}.log`));
  try {
    const figure = await server.until((line) => {
      if (line.includes('BENCH failed')) throw new Error(line);
      const json = /BENCH (\{.*\})/.exec(line)?.[1];
      return json === undefined ? null : (JSON.parse(json) as LoadFigure);
    });
    console.log(`game thread, ${load}: ${JSON.stringify(figure)}`);
    return figure;
  } finally {
    await server.stop();
  }
}
