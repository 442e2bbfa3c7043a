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
import { type Run, runName, runsOf } from './runs.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
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

/** Figures of all runs by their names, as of `runName`; runs that need a MariaDB that is not there are missing. */
export interface GameThreadFigures {
  readonly runs: Readonly<Record<string, LoadFigure>>;
  readonly lua: LuaFigure | undefined;
}

/** Each load in a game server of its own, one after another: with the connector, and with `mysql2` in the game's thread. */
export async function measureGameThread(
  seconds: number,
  isWanted = (_name: string) => true,
): Promise<GameThreadFigures> {
  const wanted = runsOf().filter((run) => isWanted(runName(run)));
  const [onSqlite, onMysql] = [wanted.filter((run) => !run.needsMysql), wanted.filter((run) => run.needsMysql)];
  const runs = await measureRuns(seconds, onSqlite, null);
  const lua = isWanted('lua') ? await measureLua() : undefined;
  if (onMysql.length === 0) return { runs, lua };
  const servers = await startServers({ durable: true, engines: ['mysql'], say: console.log });
  try {
    if (servers.mysql !== undefined) Object.assign(runs, await measureRuns(seconds, onMysql, servers.mysql.url));
    else console.log(`mysql is not measured: ${servers.missing.mysql}`);
    return { runs, lua };
  } finally {
    await servers.stop();
  }
}

async function measureRuns(
  seconds: number,
  runs: readonly Run[],
  mysqlUrl: string | null,
): Promise<Record<string, LoadFigure>> {
  const figures: Record<string, LoadFigure> = {};
  if (runs.length === 0) return figures;
  const { folder, secret } = makeFolder(mysqlUrl === null ? undefined : { provider: 'mysql', url: mysqlUrl });
  try {
    await withSidecar(folder, async (port) => {
      await fillTables(port, secret);
      makeServer(folder);
      for (const run of runs) figures[runName(run)] = await measureRun(folder, port, run, seconds, mysqlUrl ?? '');
    });
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

async function measureRun(
  folder: string,
  port: number,
  run: Run,
  seconds: number,
  mysqlUrl: string,
): Promise<LoadFigure> {
  const name = runName(run);
  configure(folder, port, run);
  Object.assign(process.env, {
    BENCH_LOAD: run.load,
    BENCH_SECONDS: String(seconds),
    BENCH_WARM_UP_SECONDS: String(WARM_UP_SECONDS),
    BENCH_MYSQL_URL: mysqlUrl,
  });
  const profile = process.env.BENCH_PROFILE === name ? ['--cpu-prof', `--cpu-prof-dir=${join(ROOT, '.cache')}`] : [];
  const args = [...profile, 'dist/standalone/main.js', '--root', join(folder, 'server'), '--vfs', folder];
  const server = start(args, join(folder, `${name.replaceAll(/\W/g, '-')}.log`));
  try {
    const figure = await server.until((line) => {
      if (line.includes('BENCH failed')) throw new Error(line);
      const json = /BENCH (\{.*\})/.exec(line)?.[1];
      return json === undefined ? null : (JSON.parse(json) as LoadFigure);
    });
    console.log(`game thread, ${name}: ${JSON.stringify(figure)}`);
    return figure;
  } finally {
    await server.stop();
  }
}
