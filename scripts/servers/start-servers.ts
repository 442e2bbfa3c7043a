// The front: what tests and benchmarks use.
import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Action, control } from './control.ts';
import { ENGINE_NAMES, type EngineName, type ServerOptions } from './engine.ts';
import { isAlive } from './process-table.ts';
import { controlSocket, type ServersState } from './run-state.ts';
import { withPrivateMounts } from './small-disk.ts';
import type { SupervisorNews, SupervisorOrder } from './supervisor.ts';

export type { ServersState } from './run-state.ts';
export type { EngineName, ServerOptions };

/** A server. The actions reject for a server that was given by a URL: it is not ours to stop. */
export interface TestServer {
  /** An ordinary account that owns the database it points to. */
  readonly url: string;
  /** An account that may do anything; the same as `url` for a server that was given. */
  readonly adminUrl: string;
  readonly isOurs: boolean;
  /** After `stop` or `kill`, on the same port and with the same data; resolves when it answers. */
  start(): Promise<void>;
  stop(): Promise<void>;
  restart(): Promise<void>;
  /** Every process of it at once, as when the power goes. */
  kill(): Promise<void>;
  /** It hangs until `resume`: connections stay open, nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** For a server started with `diskMegabytes`: writes that need room fail until `emptyDisk`. */
  fillDisk(): Promise<void>;
  emptyDisk(): Promise<void>;
}

export interface TestServers extends Partial<Record<EngineName, TestServer>> {
  /** Why an engine is not there. */
  readonly missing: ServersState['missing'];
  /** Plain JSON for `connectServers` in another process, such as a worker of the test runner. */
  readonly state: ServersState;
  /** Ends all of them for good. */
  stop(): Promise<void>;
}

export interface StartOptions extends ServerOptions {
  readonly engines?: readonly EngineName[];
  /** They outlive this process, until `npm run servers -- stop`. */
  readonly isStanding?: boolean;
  /** Hears of long steps: packages, compiling. */
  readonly say?: (line: string) => void;
}

const SUPERVISOR = fileURLToPath(new URL('supervisor.ts', import.meta.url));
const END_TIMEOUT_MS = 30_000;

function testServer(state: ServersState, engine: EngineName): TestServer | undefined {
  const server = state.servers[engine];
  if (server === undefined) return undefined;
  const act = (action: Action) => async (): Promise<void> => {
    if (!server.isOurs) throw new Error(`${engine} was given by its URL: it is not ours to ${action}.`);
    await control(controlSocket(state.folder), { engine, action });
  };
  return {
    ...server,
    start: act('start'),
    stop: act('stop'),
    restart: act('restart'),
    kill: act('kill'),
    pause: act('pause'),
    resume: act('resume'),
    fillDisk: act('fillDisk'),
    emptyDisk: act('emptyDisk'),
  };
}

/** Resolves when the supervisor and all that it made are gone. */
export async function stopServers(state: ServersState): Promise<void> {
  // Refused if it is ending already.
  await control(controlSocket(state.folder), { engine: null, action: 'stop' }).catch(() => {});
  const deadline = performance.now() + END_TIMEOUT_MS;
  while (isAlive(state.supervisor)) {
    if (performance.now() > deadline) throw new Error(`The servers did not end within ${END_TIMEOUT_MS / 1000} s.`);
    await wait(20);
  }
}

/** The servers that another process started. */
export function connectServers(state: ServersState): TestServers {
  const found = ENGINE_NAMES.map((engine) => [engine, testServer(state, engine)] as const);
  const servers: Partial<Record<EngineName, TestServer>> = Object.fromEntries(found.filter(([, server]) => server));
  return { ...servers, missing: state.missing, state, stop: () => stopServers(state) };
}

/**
 * Starts every server that is available, all at the same time, and resolves when each answers or its reason is known.
 * They end with `stop`, or with this process however it ends. SERVERS_HOSTILE=1 in the environment is `hostile` if no
 * option says otherwise.
 */
export function startServers(options: StartOptions = {}): Promise<TestServers> {
  const { engines = ENGINE_NAMES, isStanding = false, say = () => {}, ...chosen } = options;
  const { promise, resolve, reject } = Promise.withResolvers<TestServers>();
  // A session of its own: Ctrl-C reaches it through us, so that servers end after their users.
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', SUPERVISOR];
  const command = chosen.diskMegabytes === undefined ? node : withPrivateMounts(node);
  const child = spawn(`${command[0]}`, command.slice(1), {
    detached: true,
    // A supervisor that stays must not keep a pipe of its caller's open.
    stdio: ['ignore', 'ignore', isStanding ? 'ignore' : 'inherit', 'ipc'],
  });
  child.on('message', (news: SupervisorNews) => {
    if ('line' in news) return say(news.line);
    if ('failed' in news) return reject(new Error(news.failed));
    if (isStanding) child.send('let go');
    // It must not keep this process from ending; its end is what the supervisor waits for.
    child.unref();
    child.channel?.unref();
    resolve(connectServers(news.ready));
  });
  child.once('error', reject);
  child.once('exit', (code, signal) =>
    reject(new Error(`The supervisor of the servers ended early (${signal ?? code}).`)),
  );
  child.send({
    engines,
    options: { hostile: process.env.SERVERS_HOSTILE === '1', ...chosen },
    isStanding,
  } satisfies SupervisorOrder);
  return promise;
}
