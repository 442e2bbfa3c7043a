import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import { type EngineName, startServers, type TestServer } from '#scripts/servers/start-servers.ts';
import { SIDECAR_MAIN } from '#support/sidecar-program.ts';
import {
  bufferedConfig,
  bufferHealth,
  endProcess,
  flush,
  prepareTables,
} from '../support/buffered/buffered-sidecar.ts';
import { Load } from '../support/buffered/load.ts';
import { type SidecarProcess, spawnSidecar } from '../support/sidecar-process.ts';
import { testFolder } from '../support/test-folder.ts';

const WRITERS = 8;
/** How long the database is away or hangs; minutes in `npm run soak`. */
export const DOWN_MS = Number(process.env.WRITE_BEHIND_DOWN_SECONDS ?? 2) * 1000;
/** So that minutes do not make more rows than one answer holds, and a slow engine has done them soon. */
const PAUSE_MS = DOWN_MS > 10_000 ? 100 : 30;
const RECOVERY_MS = 80_000 + 2 * DOWN_MS;
/** Codes while the database is not well: live calls report it, queued writes do not notice. */
const EXPECTED = [
  'write_buffer_halted',
  'write_buffer_full',
  'database_error',
  'database_timeout',
  'conflict_retry',
  'timeout',
];

/** A sidecar process on a database that may be hurt, and the load on it. */
export interface BufferedWorld {
  readonly load: Load;
  readonly sidecar: SidecarProcess;
  /** `kill -9`, and a new process on what the old one left; `writeBehind` of its sidecar.json may have changes. */
  restart(writeBehind?: object): Promise<void>;
  /** The sidecar's own command line beside it. */
  command(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

export interface ServerWorld extends BufferedWorld {
  readonly server: TestServer;
}

export async function openBufferedWorld(database: object, folder: string, seed: number): Promise<BufferedWorld> {
  const settings = { ...database, statementTimeoutMs: 1000, poolSize: 4 };
  const start = (writeBehind: object = {}) =>
    spawnSidecar(folder, {
      ...bufferedConfig(settings, { flushIntervalMs: 50, flushAtPending: 100, haltAfterFailures: 2, ...writeBehind }),
      api: { port: 0, requestTimeoutMs: 2000 },
    });
  let sidecar = await start();
  await prepareTables(sidecar.client, WRITERS);
  return {
    load: new Load({ writers: WRITERS, seed, pauseMs: PAUSE_MS, expectedCodes: EXPECTED }),
    get sidecar() {
      return sidecar;
    },
    async restart(writeBehind) {
      await endProcess(sidecar, 'SIGKILL');
      sidecar = await start(writeBehind);
    },
    async command(...args) {
      const all = [SIDECAR_MAIN, ...args, '--config', join(folder, 'sidecar.json')];
      const cwd = new URL('../..', import.meta.url);
      return (await promisify(execFile)(process.execPath, all, { cwd })).stdout;
    },
    async stop() {
      await sidecar.kill();
    },
  };
}

/** On a server of this test file alone. */
export async function openServerWorld(engine: EngineName, seed: number): Promise<ServerWorld> {
  const servers = await startServers({ engines: [engine], isPrivate: true, hostile: true });
  const server = servers[engine];
  if (server === undefined) throw new Error(`${engine}: ${servers.missing[engine]}`);
  const world = await openBufferedWorld({ provider: engine, url: server.url }, testFolder(), seed);
  return Object.assign(world, {
    server,
    stop: async () => {
      await world.sidecar.kill();
      await servers.stop();
    },
  });
}

export async function eventually(check: () => Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: RECOVERY_MS, interval: 50 });
}

export async function becomesHalted({ sidecar }: BufferedWorld): Promise<void> {
  await eventually(async () => expect(await bufferHealth(sidecar.client)).toMatchObject({ halted: true }));
}

/** All that depends on a halted queue ends with one code, in time, and says how it is. */
export async function tellsThatItIsHalted({ sidecar }: BufferedWorld): Promise<void> {
  const { client } = sidecar;
  const rows = [{ tag: 'probe', part: 0 }];
  const dependents: [string, object][] = [
    ['find', { table: 'events', limit: 0 }],
    ['count', { table: 'events' }],
    ['insert', { table: 'events', rows, durability: 'immediate' }],
    ['schema.sync', { dryRun: true, schema: { tables: [] } }],
  ];
  for (const [operation, payload] of dependents) {
    const answer = await client.call(operation, { namespace: 'stats', ...payload });
    expect([operation, answer.status, answer.code]).toEqual([operation, 503, 'write_buffer_halted']);
  }
  const flushed = await flush(client);
  expect(flushed).toMatchObject({ halted: true, enabled: true, flushed: 0 });
  expect(flushed.remaining).toBeGreaterThan(0);
  expect((await client.must('health')).status).toBe('degraded');
}

/** A flush does not wait for the queue's next attempt, half a minute away after a long failure. */
export async function drained({ sidecar }: BufferedWorld): Promise<void> {
  const whole = { remaining: 0, halted: false };
  await eventually(async () => expect(await flush(sidecar.client), troubles(sidecar)).toMatchObject(whole));
}

/** The last that the log tells of what is wrong, beside requests. */
function troubles({ log }: SidecarProcess): string {
  const lines = log.filter(({ level, msg }) => level !== 'info' && !`${msg}`.includes('request'));
  return lines
    .slice(-5)
    .map((line) => JSON.stringify(line))
    .join('\n');
}

/** All that waited is applied by itself; nothing is lost, doubled or out of order, and the keys are known. */
export async function becomesWhole(world: BufferedWorld, seed: number): Promise<void> {
  const { load, sidecar } = world;
  await eventually(async () => expect(await bufferHealth(sidecar.client)).toMatchObject({ halted: false, pending: 0 }));
  await load.repeatKeys(sidecar.client);
  expect(await load.judge(sidecar.client), `WRITE_BEHIND_SEED=${seed}`).toEqual([]);
  expect(await flush(sidecar.client)).toMatchObject({ remaining: 0, deadLettered: 0, halted: false });
  expect(await bufferHealth(sidecar.client)).toMatchObject({ deadLetters: 0 });
}

/** Load beside what is done; it ends with it. */
export async function underLoad(world: BufferedWorld, work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const running = world.load.run(world.sidecar.client, () => isOver);
  try {
    await world.load.acknowledgements(100);
    await work();
  } finally {
    isOver = true;
    await running;
  }
}
