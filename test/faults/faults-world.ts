import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { type EngineName, startServers, type TestServer, type TestServers } from '#scripts/servers/start-servers.ts';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import type { Answer } from '../support/signed-client.ts';

export const STATEMENT_TIMEOUT_MS = 1000;
const REQUEST_TIMEOUT_MS = 1500;
export const POOL_SIZE = 4;
/** For a machine that is busy with other tests. */
const SLACK_MS = 1500;
const RECOVERY_MS = 20_000;

const TABLES = [
  {
    name: 'things',
    primaryKey: ['id'],
    columns: [
      column('id', 'int64', { autoIncrement: true }),
      column('n', 'int64'),
      column('tag', 'string', { nullable: true }),
    ],
  },
  { name: 'blobs', columns: [column('body', 'text')] },
];

function column(name: string, type: string, options: object = {}): object {
  return { name, type, ...options };
}

/** A server of this test file alone, which may be hurt, and a sidecar on it. */
export interface FaultWorld {
  readonly server: TestServer;
  readonly servers: TestServers;
  readonly sidecar: TestSidecar;
  call(operation: string, payload?: object): Promise<Answer>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly diskMegabytes?: number;
  /** The server is stopped before the sidecar starts, and no schema is declared. */
  readonly isAway?: boolean;
}

export async function openWorld(engine: EngineName, { diskMegabytes, isAway }: WorldOptions = {}): Promise<FaultWorld> {
  const servers = await startServers({
    engines: [engine],
    isPrivate: true,
    hostile: true,
    ...(diskMegabytes === undefined ? {} : { diskMegabytes }),
  });
  const server = servers[engine];
  if (server === undefined) throw new Error(`${engine}: ${servers.missing[engine]}`);
  if (isAway === true) await server.stop();
  const settings = { provider: engine, url: server.url };
  const sidecar = await startSidecar({
    database: { settings, drop: async () => {} },
    config: {
      api: { requestTimeoutMs: REQUEST_TIMEOUT_MS },
      database: { statementTimeoutMs: STATEMENT_TIMEOUT_MS, poolSize: POOL_SIZE },
    },
  });
  const world: FaultWorld = {
    server,
    servers,
    sidecar,
    call: (operation, payload = {}) => sidecar.client.call(operation, { namespace: 'game', ...payload }),
    async stop() {
      await sidecar.stop();
      await servers.stop();
    },
  };
  if (isAway !== true) await declareTables(world);
  return world;
}

export async function declareTables({ sidecar }: FaultWorld): Promise<void> {
  await sidecar.client.must('schema.sync', { namespace: 'game', schema: { tables: TABLES } });
}

/** Codes with which a call may end while its database is not well. */
const EXPECTED: readonly string[] = ['database_error', 'database_timeout', 'conflict_retry', 'timeout'];

/** Every call ends in time, and with a code of the table. */
export async function endsInTime(call: () => Promise<Answer>): Promise<Answer> {
  const startedMs = performance.now();
  const answer = await call();
  expect(performance.now() - startedMs).toBeLessThan(REQUEST_TIMEOUT_MS + SLACK_MS);
  if (!answer.ok) expect(EXPECTED).toContain(answer.code);
  return answer;
}

/** /readyz, which answers within 2 s whatever the database does. */
export async function isReady({ sidecar }: FaultWorld): Promise<boolean> {
  const startedMs = performance.now();
  const { status, body } = await sidecar.client.get('/readyz');
  expect(performance.now() - startedMs).toBeLessThan(2000 + SLACK_MS);
  expect(JSON.parse(body)).toEqual(
    status === 200 ? { status: 'ready', database: true } : { status: 'unavailable', database: false },
  );
  return status === 200;
}

export async function until(what: string, isSo: () => Promise<boolean>, timeoutMs = RECOVERY_MS): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await wait(50);
  }
}

/** Ready again, and reads and writes work again, by itself. */
export async function recovers(world: FaultWorld): Promise<void> {
  await until('ready', () => isReady(world));
  await until('a write', async () => (await endsInTime(() => insertThing(world))).ok);
  await until('a read', async () => (await endsInTime(() => world.call('count', { table: 'things' }))).ok);
}

export function insertThing(world: FaultWorld, options: object = {}): Promise<Answer> {
  return world.call('insert', { table: 'things', rows: [{ n: 1 }], ...options });
}

/** Text of the log; fails if it contains the password. */
export function logText({ sidecar, server }: FaultWorld): string {
  const text = JSON.stringify(sidecar.log);
  const { password } = new URL(server.url);
  if (password !== '') expect(text).not.toContain(password);
  return text;
}
