import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  endsInTime,
  type FaultWorld,
  insertThing,
  isReady,
  logText,
  openWorld,
  POOL_SIZE,
  recovers,
  until,
} from './faults-world.ts';
import { describeServerFaults } from './server-faults.ts';

describeServerFaults('mysql');

describe('what only an administrator of MariaDB can do', () => {
  let world: FaultWorld;
  beforeAll(async () => {
    world = await openWorld('mysql');
  });
  afterAll(() => world.stop());

  async function asAdmin(...statements: string[]): Promise<RowDataPacket[]> {
    const connection = await createConnection(world.server.adminUrl);
    try {
      let rows: RowDataPacket[] = [];
      for (const statement of statements) [rows] = await connection.query<RowDataPacket[]>(statement);
      return rows;
    } finally {
      await connection.end();
    }
  }
  const sessions = async () =>
    (await asAdmin("SELECT id FROM information_schema.processlist WHERE user = 'sidecar'")).map((row) =>
      Number(row.id),
    );
  async function endSessions(): Promise<void> {
    // A session may have ended meanwhile.
    for (const id of await sessions()) await asAdmin(`KILL ${id}`).catch(() => {});
  }

  it('sessions that are ended under load are replaced, and never more than the pool', async () => {
    const calls = Array.from({ length: 60 }, () => endsInTime(() => insertThing(world)));
    await endSessions();
    await Promise.all(calls);
    await recovers(world);
    expect((await sessions()).length).toBeLessThanOrEqual(POOL_SIZE);
  });

  it('no connection left for the account', async () => {
    // The server counts only the sessions that begin while there is a limit.
    await asAdmin("ALTER USER 'sidecar'@'127.0.0.1' WITH MAX_USER_CONNECTIONS 1");
    const other = await createConnection(world.server.url);
    try {
      const [[own]] = await other.query<RowDataPacket[]>('SELECT connection_id() AS id');
      for (const id of await sessions()) if (id !== Number(own?.id)) await asAdmin(`KILL ${id}`).catch(() => {});
      await until('not ready', async () => !(await isReady(world)));
      expect((await endsInTime(() => insertThing(world))).code).toBe('database_error');
      expect(logText(world)).toMatch(/connections/i);
    } finally {
      await asAdmin("ALTER USER 'sidecar'@'127.0.0.1' WITH MAX_USER_CONNECTIONS 0");
      await other.end();
    }
    await recovers(world);
  });

  it('read-only: reads go on, writes say so', async () => {
    await asAdmin('SET GLOBAL read_only = 1');
    try {
      expect((await endsInTime(() => insertThing(world))).code).toBe('database_error');
      expect((await endsInTime(() => world.call('count', { table: 'things' }))).ok).toBe(true);
      expect(logText(world)).toMatch(/read-only/i);
    } finally {
      await asAdmin('SET GLOBAL read_only = 0');
    }
    await recovers(world);
  });

  it('another password: told to the owner, without showing it', async () => {
    const { password } = new URL(world.server.url);
    await asAdmin("ALTER USER 'sidecar'@'127.0.0.1' IDENTIFIED BY 'another'");
    await endSessions();
    await until('not ready', async () => !(await isReady(world)));
    expect((await endsInTime(() => insertThing(world))).code).toBe('database_error');
    expect(logText(world)).toMatch(/password/i);
    await asAdmin(`ALTER USER 'sidecar'@'127.0.0.1' IDENTIFIED BY '${password}'`);
    await recovers(world);
  });

  it('rows that somebody else holds: an answer in time, then it goes on', async () => {
    await insertThing(world);
    const other = await createConnection(world.server.url);
    try {
      await other.query('START TRANSACTION');
      await other.query('SELECT * FROM game__things FOR UPDATE');
      const filter = { field: 'n', op: 'eq', value: 1 };
      const answer = await endsInTime(() => world.call('update', { table: 'things', filter, set: { n: 1 } }));
      expect(['database_timeout', 'conflict_retry']).toContain(answer.code);
    } finally {
      await other.end();
    }
    await recovers(world);
  });
});

describe('a full disk of MariaDB', () => {
  it('is told, and writes come back with room', async () => {
    const world = await openWorld('mysql', { diskMegabytes: 300 });
    try {
      await world.server.fillDisk();
      const body = 'x'.repeat(400_000);
      const write = () => endsInTime(() => world.call('insert', { table: 'blobs', rows: [{ body }] }));
      await until('refused', async () => !(await write()).ok, 60_000);
      await world.server.emptyDisk();
      await recovers(world);
    } finally {
      await world.stop();
    }
  });
});
