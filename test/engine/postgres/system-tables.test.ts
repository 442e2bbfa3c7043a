import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MOVED, OWNED } from '../owned-queues.ts';
import { type PostgresWorld, postgresWorld, sync, within } from './schema-world.ts';

let world: PostgresWorld;

beforeEach(async () => {
  world = await postgresWorld();
});

afterEach(async () => {
  await world.drop();
});

const QUEUES = ['_dead_letters', '_journals'];
const OLDEST = ['_generators', '_idempotency', '_locks', '_meta', '_quarantine', '_schemas'];
const OURS = [...QUEUES, ...OLDEST, '_revoked', '_sidecars'].toSorted();

const tables = () => world.column(`SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`);

describe('the tables of the sidecar', () => {
  it('are made once, by several at once, beside what other programs have', async () => {
    await world.client.query('CREATE TABLE schemas (id int); CREATE TABLE meta (id int)');
    await Promise.all([world.open(), world.open(), world.open()]);
    expect(await tables()).toEqual([...OURS, 'meta', 'schemas']);
    const engine = await world.open();
    await engine.ping(within(5000));
    await sync(engine, 'game', { tables: [{ name: 't', columns: [{ name: 'a', type: 'int32' }] }] });
    const again = await world.open();
    expect((await again.schemas.readSchema('game', within(5000)))?.revision).toBe(1);
  });

  it.each(OURS)('are not made where %s is somebody else’s', async (name) => {
    await world.client.query(`CREATE TABLE ${name} (name text, value text)`);
    await expect(world.open()).rejects.toThrow(
      `schema public of the database has a table ${name} that is not this program's`,
    );
    expect(await tables()).toEqual([name]);
  });

  it('of queues are added to those of a sidecar that knew none', async () => {
    await (await world.open()).close();
    await world.client.query(`DROP TABLE ${[...QUEUES, '_revoked', '_sidecars'].join(', ')}`);
    const [engine] = await Promise.all([world.open(), world.open()]);
    expect(await engine.queues.claimQueue('game', 'a', within(5000))).toMatchObject({ token: 1 });
    expect(await tables()).toEqual(OURS);
  });

  it('have places of journals for the owners of a version before, once', async () => {
    await (await world.open()).close();
    await world.client.query('DROP TABLE _journals');
    await world.client.query(`CREATE TABLE _queues (namespace text COLLATE "C" PRIMARY KEY, journal text COLLATE "C",
      token bigint NOT NULL, position bigint NOT NULL, past text NOT NULL)`);
    for (const { namespace, journal, token, position, past } of OWNED) {
      const values = [namespace, journal, token, position, JSON.stringify(past)];
      await world.client.query('INSERT INTO _queues VALUES ($1, $2, $3, $4, $5)', values);
    }
    const [engine] = await Promise.all([world.open(), world.open()]);
    expect(await engine.queues.listQueues(null, within(5000))).toEqual(MOVED);
    expect(await tables()).toEqual(OURS);
  });

  it('of a newer version are refused and stay as they are', async () => {
    await (await world.open()).ping(within(5000));
    await world.client.query(`UPDATE _meta SET value = '3' WHERE name = 'format'`);
    await expect(world.open()).rejects.toThrow('format version 3, and this program knows 2: use a newer sidecar');
    expect(await world.column('SELECT value FROM _meta')).toEqual(['3']);
  });

  it('lie in the first schema of the search path that exists', async () => {
    await world.client.query('CREATE SCHEMA own');
    const [database] = await world.column('SELECT current_database()');
    await world.client.query(`ALTER DATABASE ${database} SET search_path = nowhere, own, public`);
    const engine = await world.open();
    await sync(engine, 'game', { tables: [{ name: 't', columns: [{ name: 'a', type: 'int32' }] }] });
    const where = `SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('_meta', 'game__t')`;
    expect(await world.column(where)).toEqual(['own']);
    await world.client.query(`ALTER DATABASE ${database} SET search_path = nowhere`);
    await expect(world.open()).rejects.toThrow('no schema in its search_path');
  });
});

describe('idempotency records', () => {
  it('are removed when they are expired', async () => {
    await (await world.open()).ping(within(5000));
    await world.client.query(
      `INSERT INTO _idempotency SELECT 'k', 'game', n::text, '', '{}', n FROM generate_series(1, 12000) n`,
    );
    await world.open({ now: () => 11_990, purgeIntervalMs: 20 });
    await expect.poll(() => world.column('SELECT count(*) FROM _idempotency')).toEqual(['10']);
  });
});
