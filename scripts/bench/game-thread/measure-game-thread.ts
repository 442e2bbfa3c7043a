import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shipBundle } from '#scripts/build/shipped-bundles.ts';
import { startServers } from '#scripts/servers/start-servers.ts';
import { withSidecar } from '../engines/measure-engines.ts';
import type { ThreadFigures } from '../game_load/thread-watch.ts';
import { NAMESPACE } from '../game_load/ways.ts';
import { makeFolder } from '../prepare.ts';
import { start } from '../processes.ts';
import { fillTables } from './fill-tables.ts';
import { type LuaFigure, measureLua } from './measure-lua.ts';
import { type Run, runName, runsOf, type Turn, turnsOf } from './runs.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROFILE = join(ROOT, '.cache/game-thread.cpuprofile');
const WARM_UP_SECONDS = 8;

/** Effect of a load on the thread of a game server in its own process. */
export interface LoadFigure {
  readonly calls: number;
  /** Without answer, or with another one than the load wants. */
  readonly errors: number;
  /** Processor time of the thread for a single call; null if the load does not measure that. */
  readonly cost: { readonly medianMs: number; readonly maxMs: number } | null;
  readonly thread: ThreadFigures;
}

/** Figures of all runs by their names, as of `runName`, each by its rounds; runs that need a MariaDB that is not there are missing. */
export interface GameThreadFigures {
  readonly runs: Readonly<Record<string, readonly LoadFigure[]>>;
  readonly lua: LuaFigure | undefined;
}

/** A sidecar with its tables, and a game server beside it. */
interface Place {
  readonly folder: string;
  readonly port: number;
  /** URL of the database below the sidecar; empty if that is SQLite. */
  readonly mysqlUrl: string;
}

/**
 * Each load in a game server of its own, one after another, in rounds that take turns: with the connector, and with `mysql2` in the
 * game's thread.
 */
export async function measureGameThread(
  seconds: number,
  isWanted = (_name: string) => true,
): Promise<GameThreadFigures> {
  const wanted = runsOf().filter((run) => isWanted(runName(run)));
  const lua = isWanted('lua') ? await measureLua() : undefined;
  return { runs: await withPlaces(wanted, (runs, placeOf) => measureRounds(runs, placeOf, seconds)), lua };
}

type PlaceOf = (run: Run) => Place;

/** @param work gets the runs for which there is a place */
async function withPlaces<T>(
  wanted: readonly Run[],
  work: (runs: readonly Run[], placeOf: PlaceOf) => Promise<T>,
): Promise<T> {
  const onSqlite = wanted.filter((run) => !run.needsMysql);
  if (onSqlite.length === wanted.length) return withPlace('', (sqlite) => work(wanted, () => sqlite));
  const servers = await startServers({ durable: true, engines: ['mysql'], say: console.log });
  try {
    const url = servers.mysql?.url;
    if (url === undefined) console.log(`mysql is not measured: ${servers.missing.mysql}`);
    return await withPlace('', (sqlite) => {
      if (url === undefined) return work(onSqlite, () => sqlite);
      return withPlace(url, (mysql) => work(wanted, ({ needsMysql }) => (needsMysql ? mysql : sqlite)));
    });
  } finally {
    await servers.stop();
  }
}

async function withPlace<T>(mysqlUrl: string, work: (place: Place) => Promise<T>): Promise<T> {
  const { folder, secret } = makeFolder(mysqlUrl === '' ? undefined : { provider: 'mysql', url: mysqlUrl });
  try {
    return await withSidecar(folder, async (port) => {
      await fillTables(port, secret);
      makeServer(folder);
      return await work({ folder, port, mysqlUrl });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureRounds(
  runs: readonly Run[],
  placeOf: PlaceOf,
  seconds: number,
): Promise<Record<string, LoadFigure[]>> {
  const figures: Record<string, LoadFigure[]> = {};
  for (const turn of turnsOf(runs)) {
    const [name, figure] = [runName(turn.run), await measureTurn(placeOf(turn.run), turn, seconds)];
    figures[name] = [...(figures[name] ?? []), figure];
  }
  return figures;
}

/** The connector as it is shipped, and the bundle that brings the load. */
function makeServer(folder: string): void {
  mkdirSync(join(folder, 'server/bundles'), { recursive: true });
  shipBundle(join(ROOT, 'dist/db_connector'), join(folder, 'server/bundles/db_connector'));
  shipBundle(join(ROOT, 'scripts/bench/game_load'), join(folder, 'server/bundles/game_load'));
}

function configure(folder: string, port: number, { settings }: Run): void {
  const database = {
    url: `http://127.0.0.1:${port}`,
    keyId: 'local',
    secretFile: 'secrets/local.secret',
    namespaces: [NAMESPACE],
    ...settings,
  };
  writeFileSync(join(folder, 'database.json'), JSON.stringify(database));
}

async function measureTurn(
  { folder, port, mysqlUrl }: Place,
  { run, round }: Turn,
  seconds: number,
): Promise<LoadFigure> {
  const name = runName(run);
  configure(folder, port, run);
  Object.assign(process.env, {
    BENCH_LOAD: run.load,
    BENCH_SECONDS: String(seconds),
    BENCH_WARM_UP_SECONDS: String(WARM_UP_SECONDS),
    BENCH_MYSQL_URL: mysqlUrl,
    BENCH_PROFILE_FILE: process.env.BENCH_PROFILE === name && round === 0 ? PROFILE : '',
  });
  const args = ['dist/standalone/main.js', '--root', join(folder, 'server'), '--vfs', folder];
  const server = start(args, join(folder, `${name.replaceAll(/\W/g, '-')}.log`));
  try {
    const figure = await server.until((line) => {
      if (line.includes('BENCH failed')) throw new Error(line);
      const json = /BENCH (\{.*\})/.exec(line)?.[1];
      return json === undefined ? null : (JSON.parse(json) as LoadFigure);
    });
    console.log(`game thread, ${name}, round ${1 + round}: ${JSON.stringify(figure)}`);
    return figure;
  } finally {
    await server.stop();
  }
}
