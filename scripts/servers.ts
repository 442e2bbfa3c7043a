// `npm run servers -- start|stop|status [postgres] [mysql] [mysql9] [mongodb]`: private servers to try or to test against.
import { parseArgs } from 'node:util';
import { ENGINE_NAMES, type EngineName } from './servers/engine.ts';
import { ENGINES } from './servers/engines.ts';
import { isAlive } from './servers/process-table.ts';
import { endStaleRuns, readRuns, type ServersState } from './servers/run-state.ts';
import { connectServers, startServers } from './servers/start-servers.ts';

const USAGE = `Usage: npm run servers -- start|stop|status [${ENGINE_NAMES.join('] [')}]
  start            starts those that are not running yet, and shows their URLs
    --durable      waits for the disk at each commit
    --hostile      with defaults of the server that would change answers
    --set E.K=V    a setting of engine E, such as mysql.max_allowed_packet=16384
  stop --forget    ends those that \`start\` started, and deletes their data
  status           shows all that run, those of tests too`;

const say = (line: string): void => console.log(line);

function show(state: ServersState): void {
  for (const engine of ENGINE_NAMES) {
    const server = state.servers[engine];
    if (server) say(`${ENGINES[engine].urlVariable}=${server.url}`);
    const reason = state.missing[engine];
    if (reason !== undefined) say(`# ${engine} cannot be had: ${reason}`);
  }
}

/** Servers that `start` left running, each with the run that it belongs to. */
function standing(engines: readonly EngineName[]): { state: ServersState; engines: EngineName[] }[] {
  const runs = readRuns().filter((run) => run.isStanding && isAlive(run.supervisor));
  return runs.map((state) => ({ state, engines: engines.filter((engine) => state.servers[engine] !== undefined) }));
}

interface Options {
  readonly durable: boolean;
  readonly hostile: boolean;
  readonly set: readonly string[];
}

function settingsOf(set: readonly string[]): Partial<Record<EngineName, Record<string, string>>> {
  const settings: Partial<Record<EngineName, Record<string, string>>> = {};
  for (const text of set) {
    const [, engine, key, value] = /^([a-z]+)\.([\w.]+)=(.*)$/.exec(text) ?? [];
    const name = ENGINE_NAMES.find((candidate) => candidate === engine);
    if (name === undefined || key === undefined || value === undefined)
      throw new Error(`Not ENGINE.SETTING=VALUE: ${text}`);
    settings[name] = { ...settings[name], [key]: value };
  }
  return settings;
}

async function start(engines: readonly EngineName[], { durable, hostile, set }: Options): Promise<void> {
  const running = standing(engines);
  for (const { state, engines: chosen } of running) {
    const servers = connectServers(state);
    // A single server may have been stopped alone.
    await Promise.all(chosen.map((engine) => servers[engine]?.isOurs && servers[engine].start()));
    show(state);
  }
  const wanted = engines.filter((engine) => !running.some((run) => run.engines.includes(engine)));
  if (wanted.length === 0) return;
  const options = { durable, ...(hostile && { hostile }), settings: settingsOf(set) };
  const servers = await startServers({ engines: wanted, ...options, isStanding: true, say });
  show(servers.state);
  if (Object.keys(servers.missing).length > 0) process.exitCode = 1;
  if (Object.keys(servers.state.servers).length === 0) await servers.stop();
}

/** A run ends when its last server does. */
async function stop(engines: readonly EngineName[], forget: boolean): Promise<void> {
  const chosenNames = standing(engines).flatMap(({ engines: chosen }) => chosen);
  if (chosenNames.length > 0 && !forget) {
    say(`Nothing was stopped. To stop deletes all data of ${chosenNames.join(', ')}; add --forget to do it.`);
    process.exitCode = 1;
    return;
  }
  for (const { state, engines: chosen } of standing(engines)) {
    const servers = connectServers(state);
    const isAll = ENGINE_NAMES.every((engine) => servers[engine] === undefined || chosen.includes(engine));
    if (isAll) await servers.stop();
    else await Promise.all(chosen.map((engine) => servers[engine]?.stop()));
    say(`Stopped: ${chosen.join(', ') || 'nothing'}`);
  }
}

function status(): void {
  const runs = readRuns();
  if (runs.length === 0) say('No servers are running.');
  for (const run of runs) {
    say(`# ${run.isStanding ? 'started by hand' : 'of a test run'}, process ${run.supervisor.pid}, ${run.folder}`);
    show(run);
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      durable: { type: 'boolean', default: false },
      hostile: { type: 'boolean', default: false },
      forget: { type: 'boolean', default: false },
      set: { type: 'string', multiple: true, default: [] },
    },
  });
  const [command, ...names] = positionals;
  const engines = ENGINE_NAMES.filter((engine) => names.length === 0 || names.includes(engine));
  const isKnown = names.every((name) => ENGINE_NAMES.some((engine) => engine === name));
  endStaleRuns();
  if (isKnown && command === 'start') return start(engines, values);
  if (isKnown && command === 'stop') return stop(engines, values.forget);
  if (isKnown && command === 'status') return status();
  say(USAGE);
  process.exitCode = 2;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
