import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest';
import { machineSource } from '#scripts/servers/debian-root.ts';
import { familyOf, isAlive, markOf } from '#scripts/servers/process-table.ts';
import { endStaleRuns, readRuns } from '#scripts/servers/run-state.ts';
import {
  connectServers,
  type EngineName,
  type ServersState,
  startServers,
  type TestServer,
  type TestServers,
} from '#scripts/servers/start-servers.ts';
import { itIf } from '../support/it-if.ts';
import { testFolder } from '../support/test-folder.ts';

// The first time, packages come from the network and FerretDB is compiled.
const FIRST_TIME_MS = 600_000;

/** Runs one statement that writes a value, or one that reads all values back. */
type Speak = (url: string, written?: string) => Promise<string[]>;

async function speakPostgres(url: string, written?: string): Promise<string[]> {
  const client = new Client({ connectionString: url, query_timeout: 10_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('create table if not exists notes (note text)');
    if (written !== undefined) await client.query('insert into notes values ($1)', [written]);
    const { rows } = await client.query<{ note: string }>('select note from notes');
    return rows.map(({ note }) => note);
  } finally {
    await client.end();
  }
}

async function speakMysql(url: string, written?: string): Promise<string[]> {
  const connection = await createConnection({ uri: url, charset: 'utf8mb4' });
  try {
    await connection.query('create table if not exists notes (note text) character set utf8mb4');
    if (written !== undefined) await connection.query('insert into notes values (?)', [written]);
    const [rows] = await connection.query('select note from notes');
    return (rows as { note: string }[]).map(({ note }) => note);
  } finally {
    await connection.end();
  }
}

async function speakMongodb(url: string, written?: string): Promise<string[]> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 2_000 });
  try {
    const notes = client.db().collection<{ note: string }>('notes');
    if (written !== undefined) await notes.insertOne({ note: written });
    return (await notes.find().toArray()).map(({ note }) => note);
  } finally {
    await client.close();
  }
}

const SPEAK: Record<EngineName, Speak> = {
  postgres: speakPostgres,
  mysql: speakMysql,
  mysql9: speakMysql,
  mongodb: speakMongodb,
};

/** In CI each engine must be there; elsewhere its test tells why it is not. */
function serverOf(servers: TestServers, engine: EngineName, context: TestContext): TestServer {
  const server = servers[engine];
  if (server !== undefined) return server;
  const reason = `${engine} cannot be had: ${servers.missing[engine]}`;
  if (process.env.CI) throw new Error(reason);
  return context.skip(reason);
}

/** The addresses that a process and all below it listen on, as the kernel writes them. */
function listeningAddresses(pid: number): string[] {
  const sockets = familyOf(pid).flatMap((member) =>
    readdirSync(`/proc/${member}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${member}/fd/${fd}`))?.[1];
      } catch {
        return undefined;
      }
    }),
  );
  const lines = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8').trim().split('\n').slice(1),
  );
  const entries = lines.map((line) => line.trim().split(/\s+/));
  return entries.filter((entry) => entry[3] === '0A' && sockets.includes(entry[9])).map((entry) => `${entry[1]}`);
}

/** Shared memory of System V, which outlives processes. */
/** Shared memory that nobody has attached any more; other servers may come and go beside. */
function deadSegments(): string[] {
  const lines = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n').slice(1);
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return fields.filter(([, , , , , , attached]) => attached === '0').map(([, id]) => `${id}`);
}

function expectNothingLeft(state: ServersState): void {
  expect(isAlive(state.supervisor)).toBe(false);
  expect(existsSync(state.folder)).toBe(false);
  expect(readRuns().filter((run) => run.folder === state.folder)).toEqual([]);
}

describe('servers for the tests', () => {
  let servers: TestServers;

  beforeAll(async () => {
    servers = await startServers({ isPrivate: true, say: console.log });
  }, FIRST_TIME_MS);

  afterAll(() => servers.stop());

  for (const engine of ['postgres', 'mysql', 'mongodb'] as const) {
    it(`${engine} answers to its driver, keeps what it was told, and hangs and dies as told`, async (context) => {
      const server = serverOf(servers, engine, context);
      const speak = SPEAK[engine];
      expect(await speak(server.url, 'Grüße 🦊')).toEqual(['Grüße 🦊']);
      if (!server.isOurs) return;
      await server.restart();
      expect(await speak(server.url, 'second')).toHaveLength(2);
      await server.kill();
      await expect(speak(server.url)).rejects.toThrow();
      await server.start();
      expect((await speak(server.url)).sort()).toEqual(['Grüße 🦊', 'second']);

      await server.pause();
      let isAnswered = false;
      const answer = speak(server.url).finally(() => {
        isAnswered = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(isAnswered).toBe(false);
      await server.resume();
      expect(await answer).toHaveLength(2);
    }, 120_000);
  }

  it('listens on the loopback only', () => {
    const addresses = listeningAddresses(servers.state.supervisor.pid);
    const ours = Object.values(servers.state.servers).filter(({ isOurs }) => isOurs);
    expect(addresses.length).toBeGreaterThanOrEqual(ours.length);
    expect(addresses.filter((address) => !address.startsWith('0100007F:'))).toEqual([]);
  });

  it('is reached from another process by its state', async (context) => {
    const server = serverOf(servers, 'postgres', context);
    const state = JSON.parse(JSON.stringify(servers.state)) as ServersState;
    expect(connectServers(state).postgres?.url).toBe(server.url);
    if (!server.isOurs) return;
    await connectServers(state).postgres?.restart();
    await speakPostgres(server.url);
  });
});

describe('after a run', () => {
  it('leaves nothing behind, even of a server that was killed', async () => {
    const before = deadSegments();
    const servers = await startServers({ isPrivate: true, engines: ['postgres', 'mysql'] });
    await servers.postgres?.kill();
    await servers.stop();
    expectNothingLeft(servers.state);
    await expect.poll(() => deadSegments().filter((id) => !before.includes(id))).toEqual([]);
  }, 120_000);

  it('leaves nothing behind when its process is killed', async () => {
    const { child, state } = await startInOtherProcess();
    const marks = familyOf(state.supervisor.pid).map(markOf);
    child.kill('SIGKILL');
    await vi.waitFor(() => expectNothingLeft(state), 20_000);
    expect(marks.filter(isAlive)).toEqual([]);
  }, 120_000);

  it('a supervisor that is killed takes its servers along; its folder goes with the next run', async () => {
    const { child, state } = await startInOtherProcess();
    const marks = familyOf(state.supervisor.pid).map(markOf);
    process.kill(state.supervisor.pid, 'SIGKILL');
    await vi.waitFor(() => expect(marks.filter(isAlive)).toEqual([]), 20_000);
    endStaleRuns();
    expectNothingLeft(state);
    child.kill('SIGKILL');
  }, 120_000);
});

/** A process that starts PostgreSQL and then does nothing. */
async function startInOtherProcess(): Promise<{ child: ChildProcess; state: ServersState }> {
  const front = new URL('../../scripts/servers/start-servers.ts', import.meta.url).href;
  const program = `
    const { startServers } = await import(${JSON.stringify(front)});
    const { state } = await startServers({ isPrivate: true, engines: ['postgres'] });
    console.log(JSON.stringify(state));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout }))
    return { child, state: JSON.parse(line) as ServersState };
  throw new Error('It ended without a word.');
}

describe('options', () => {
  it('takes a server that the environment names, and leaves it alone', async () => {
    vi.stubEnv('TEST_POSTGRES_URL', 'postgres://somebody@127.0.0.1:1/theirs');
    try {
      const servers = await startServers({ engines: ['postgres'] });
      expect(servers.postgres).toMatchObject({ url: 'postgres://somebody@127.0.0.1:1/theirs', isOurs: false });
      await expect(servers.postgres?.stop()).rejects.toThrow('not ours to stop');
      await servers.stop();
      expectNothingLeft(servers.state);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('starts them with defaults that would change answers, and with settings by name', async (context) => {
    const settings = { mysql: { max_allowed_packet: '16384' }, postgres: { max_connections: '20' } };
    const servers = await startServers({ isPrivate: true, engines: ['postgres', 'mysql'], hostile: true, settings });
    try {
      const postgres = new Client({ connectionString: serverOf(servers, 'postgres', context).url });
      await postgres.connect();
      const { rows } = await postgres.query(
        `select current_setting('statement_timeout') as timeout, current_setting('TimeZone') as zone, 'a' < 'B' as by_language,
                current_setting('max_connections') as connections`,
      );
      await postgres.end();
      expect(rows).toEqual([{ timeout: '250ms', zone: 'Asia/Kathmandu', by_language: true, connections: '20' }]);

      const mysql = await createConnection({ uri: serverOf(servers, 'mysql', context).url });
      const [found] = await mysql.query(
        'select @@character_set_server as letters, @@global.sql_mode as mode, @@max_allowed_packet as packet, @@autocommit as auto',
      );
      await mysql.end();
      expect(found).toEqual([
        { letters: 'latin1', mode: expect.not.stringContaining('STRICT'), packet: 16_384, auto: 0 },
      ]);
    } finally {
      await servers.stop();
    }
  }, 120_000);

  itIf(
    process.getuid?.() === 0 ? null : 'only root fills the disk of a server',
    'fills the disk of a server, and empties it again',
    { timeout: 120_000 },
    async (context) => {
      const servers = await startServers({ isPrivate: true, engines: ['postgres', 'mysql'], diskMegabytes: 300 });
      try {
        for (const engine of ['postgres', 'mysql'] as const) {
          const server = serverOf(servers, engine, context);
          const long = randomBytes(30_000).toString('hex');
          await SPEAK[engine](server.url, 'short');
          await server.fillDisk();
          await expect(untilRefused(() => SPEAK[engine](server.url, long))).rejects.toThrow();
          await server.emptyDisk();
          await server.restart();
          expect(await SPEAK[engine](server.url, 'after')).toContain('after');
        }
      } finally {
        await servers.stop();
      }
      expectNothingLeft(servers.state);
    },
  );

  it('an engine that cannot be had is named with the reason', async () => {
    const empty = testFolder();
    vi.stubEnv('XDG_CACHE_HOME', empty);
    vi.stubEnv('PATH', empty);
    try {
      const servers = await startServers({ isPrivate: true, engines: ['mongodb'] });
      expect(servers.mongodb).toBeUndefined();
      expect(servers.missing.mongodb).toMatch(/^installing it from packages needs /);
      await servers.stop();
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

/** A server has some room of its own before it needs more of the disk. */
async function untilRefused(write: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < 500; count += 1) await write();
}

describe('the source of packages', () => {
  const folder = testFolder();

  it('is what the machine is set up with, in either form of the file', () => {
    expect(machineSource(folder)).toBeNull();
    mkdirSync(join(folder, 'sources.list.d'));
    const others = 'deb http://127.0.0.1/tools stable main\n';
    writeFileSync(join(folder, 'sources.list.d/a.list'), others);
    const paragraph = 'Types: deb\n# a remark\nURIs: http://127.0.0.1/debian\nSuites: bookworm bookworm-updates\n';
    writeFileSync(join(folder, 'sources.list.d/b.sources'), paragraph);
    expect(machineSource(folder)).toEqual({ mirror: 'http://127.0.0.1/debian', suite: 'bookworm' });
    writeFileSync(
      join(folder, 'sources.list'),
      '# deb http://no/debian x\ndeb [arch=amd64] http://127.0.0.2/debian/ trixie main\n',
    );
    expect(machineSource(folder)).toEqual({ mirror: 'http://127.0.0.2/debian/', suite: 'trixie' });
  });
});

/** Resolves when nobody holds its output any more, not even a process that it left running. */
async function runCommand(args: readonly string[], cache: string): Promise<string[]> {
  const file = fileURLToPath(new URL('../../scripts/servers.ts', import.meta.url));
  const env = { ...process.env, XDG_CACHE_HOME: cache, TEST_POSTGRES_URL: '' };
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const closed = once(child, 'close');
  const output = await text(child.stdout);
  await closed;
  return output.trimEnd().split('\n');
}

describe('npm run servers', () => {
  // Servers that a developer runs are not in it, and stay.
  const cache = testFolder();

  it('explains itself', async () => {
    const lines = await runCommand(['start', 'oracle'], cache);
    expect(lines[0]).toBe('Usage: npm run servers -- start|stop|status [postgres] [mysql] [mysql9] [mongodb]');
  });

  it(
    'starts servers that stay, and stops them',
    async () => {
      const url = (await runCommand(['start', 'postgres'], cache)).at(-1) ?? '';
      expect(url).toMatch(/^TEST_POSTGRES_URL=postgres:/);
      await speakPostgres(url.slice('TEST_POSTGRES_URL='.length));
      expect(await runCommand(['status'], cache)).toContain(url);
      const [warning] = await runCommand(['stop'], cache);
      expect(warning).toBe('Nothing was stopped. To stop deletes all data of postgres; add --forget to do it.');
      expect(await runCommand(['status'], cache)).toContain(url);
      expect(await runCommand(['stop', '--forget'], cache)).toEqual(['Stopped: postgres']);
      expect(await runCommand(['status'], cache)).toEqual(['No servers are running.']);
    },
    FIRST_TIME_MS,
  );
});
