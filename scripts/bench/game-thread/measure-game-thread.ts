import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shipBundle } from '#scripts/build/shipped-bundles.ts';
import { startServers } from '#scripts/servers/start-servers.ts';
import { callApi } from '../call-api.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import { ITEMS, type LoadName, NAMESPACE } from '../game_load/loads.ts';
import type { ThreadFigures } from '../game_load/thread-watch.ts';
import { makeFolder } from '../prepare.ts';
import { start } from '../processes.ts';
import { itemOf } from './items.ts';
import { type LuaFigure, measureLua } from './measure-lua.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const WARM_UP_SECONDS = 10;
const ROWS_PER_INSERT = 1000;

/** Effect of a load on the thread of a game server in its own process. */
export interface LoadFigure {
  readonly calls: number;
  /** Without answer, or with another one than the load wants. */
  readonly errors: number;
  /** Processor time of the thread for a single call; null if the load does not measure that. */
  readonly cost: { readonly medianMs: number; readonly maxMs: number } | null;
  readonly thread: ThreadFigures;
}

/** By load; those that were not asked for, or need a MariaDB that is not there, are missing. */
export interface GameThreadFigures extends Partial<Record<LoadName, LoadFigure>> {
  lua?: LuaFigure | undefined;
}

const ON_SQLITE: readonly LoadName[] = ['saves', 'rows', 'text'];
const ON_MYSQL: readonly LoadName[] = ['mixed', 'mysql2', 'mysql2AndCodec'];
export const LOADS: readonly LoadName[] = [...ON_SQLITE, ...ON_MYSQL];

/** Each load in a game server of its own, one after another: with the connector, and with `mysql2` in the game's thread. */
export async function measureGameThread(seconds: number, wanted = LOADS): Promise<GameThreadFigures> {
  const [onSqlite, onMysql] = [ON_SQLITE, ON_MYSQL].map((loads) => loads.filter((load) => wanted.includes(load)));
  const figures = await measureLoads(seconds, onSqlite ?? [], null);
  if (wanted.includes('text')) figures.lua = await measureLua();
  if (onMysql === undefined || onMysql.length === 0) return figures;
  const servers = await startServers({ durable: true, engines: ['mysql'], say: console.log });
  try {
    if (servers.mysql !== undefined)
      return { ...figures, ...(await measureLoads(seconds, onMysql, servers.mysql.url)) };
    console.log(`mysql is not measured: ${servers.missing.mysql}`);
    return figures;
  } finally {
    await servers.stop();
  }
}

async function measureLoads(
  seconds: number,
  loads: readonly LoadName[],
  mysqlUrl: string | null,
): Promise<GameThreadFigures> {
  const figures: GameThreadFigures = {};
  if (loads.length === 0) return figures;
  const { folder, secret } = makeFolder(mysqlUrl === null ? undefined : { provider: 'mysql', url: mysqlUrl });
  try {
    await withSidecar(folder, async (port) => {
      await prepareTables(port, secret);
      makeServer(folder, port);
      for (const load of loads) figures[load] = await measureLoad(folder, load, seconds, mysqlUrl ?? '');
    });
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Rows of 200 bytes of JSON, and 200 players whose data is saved again and again; ids from 1, whatever was there before. */
async function prepareTables(port: number, secret: string): Promise<void> {
  const call = (path: string, payload: object) => callApi(port, secret, path, { namespace: NAMESPACE, ...payload });
  const id = { name: 'id', type: 'int64' };
  const columns = [
    ...[
      id,
      { name: 'name', type: 'string', length: 60 },
      { name: 'grp', type: 'int32' },
      { name: 'hits', type: 'int64' },
    ],
    { name: 'note', type: 'string', length: 200 },
  ];
  const tables = [
    { name: 'items', primaryKey: ['id'], columns },
    { name: 'saves', primaryKey: ['id'], columns: [id, { name: 'data', type: 'json' }] },
  ];
  await call('/v1/schema/sync', { schema: { tables } });
  for (const { name } of tables)
    await call('/v1/data/delete', { table: name, filter: { field: 'id', op: 'gt', value: 0 } });
  for (let first = 1; first < ITEMS; first += ROWS_PER_INSERT) {
    const rows = Array.from({ length: ROWS_PER_INSERT }, (_, index) => itemOf(first + index));
    await call('/v1/data/insert', { table: 'items', rows });
  }
  const saves = Array.from({ length: 200 }, (_, index) => ({ id: 1 + index, data: {} }));
  await call('/v1/data/insert', { table: 'saves', rows: saves });
}

/** The connector as it is shipped, and the bundle that brings the load. */
function makeServer(folder: string, port: number): void {
  mkdirSync(join(folder, 'server/bundles'), { recursive: true });
  shipBundle(join(ROOT, 'dist/db_connector'), join(folder, 'server/bundles/db_connector'));
  shipBundle(join(ROOT, 'scripts/bench/game_load'), join(folder, 'server/bundles/game_load'));
  const settings = {
    url: `http://127.0.0.1:${port}`,
    keyId: 'local',
    secretFile: 'secrets/local.secret',
    namespaces: [NAMESPACE],
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
