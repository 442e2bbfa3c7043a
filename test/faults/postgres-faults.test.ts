import { Client } from 'pg';
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

describeServerFaults('postgres');

describe('what only an administrator of PostgreSQL can do', () => {
  let world: FaultWorld;
  beforeAll(async () => {
    world = await openWorld('postgres');
  });
  afterAll(() => world.stop());

  async function asAdmin(...statements: string[]): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: world.server.adminUrl });
    await client.connect();
    try {
      let rows: Record<string, unknown>[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  }
  const endSessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'sidecar'";
  const sessions = async () =>
    Number((await asAdmin("SELECT count(*) FROM pg_stat_activity WHERE usename = 'sidecar'"))[0]?.count);

  it('sessions that are ended under load are replaced, and never more than the pool', async () => {
    const calls = Array.from({ length: 60 }, () => endsInTime(() => insertThing(world)));
    await asAdmin(endSessions);
    await Promise.all(calls);
    await recovers(world);
    expect(await sessions()).toBeLessThanOrEqual(POOL_SIZE);
  });

  it('no connection left for the account', async () => {
    await asAdmin('ALTER ROLE sidecar CONNECTION LIMIT 0', endSessions);
    await until('not ready', async () => !(await isReady(world)));
    expect((await endsInTime(() => insertThing(world))).code).toBe('database_error');
    expect(logText(world)).toMatch(/connections/i);
    await asAdmin('ALTER ROLE sidecar CONNECTION LIMIT -1');
    await recovers(world);
  });

  it('read-only: reads go on, writes say so', async () => {
    await asAdmin('ALTER ROLE sidecar SET default_transaction_read_only = on', endSessions);
    const write = () => endsInTime(() => insertThing(world));
    await until('refused', async () => (await write()).code === 'database_error');
    expect((await endsInTime(() => world.call('count', { table: 'things' }))).ok).toBe(true);
    expect(logText(world)).toMatch(/read-only/i);
    await asAdmin('ALTER ROLE sidecar RESET default_transaction_read_only', endSessions);
    await recovers(world);
  });

  it('another password: told to the owner, without showing it', async () => {
    const { password } = new URL(world.server.url);
    await asAdmin("ALTER ROLE sidecar PASSWORD 'another'", endSessions);
    await until('not ready', async () => !(await isReady(world)));
    expect((await endsInTime(() => insertThing(world))).code).toBe('database_error');
    expect(logText(world)).toMatch(/password/i);
    await asAdmin(`ALTER ROLE sidecar PASSWORD '${password}'`);
    await recovers(world);
  });

  it('a long transaction of somebody else: 409, then it goes on', async () => {
    const other = new Client({ connectionString: world.server.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('LOCK TABLE game__things IN ACCESS EXCLUSIVE MODE');
      const answer = await endsInTime(() => world.call('count', { table: 'things' }));
      expect(['database_timeout', 'conflict_retry']).toContain(answer.code);
    } finally {
      await other.end();
    }
    await recovers(world);
  });
});

describe('a full disk of PostgreSQL', () => {
  it('is told, and writes come back with room', async () => {
    const world = await openWorld('postgres', { diskMegabytes: 300 });
    try {
      await world.server.fillDisk();
      const body = 'x'.repeat(400_000);
      const write = () => endsInTime(() => world.call('insert', { table: 'blobs', rows: [{ body }] }));
      await until('refused', async () => (await write()).code === 'database_error', 30_000);
      await world.server.emptyDisk();
      await recovers(world);
    } finally {
      await world.stop();
    }
  });
});
