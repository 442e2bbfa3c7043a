import mysql from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MOVED, OWNED } from '../owned-queues.ts';
import { type MysqlWorld, openMysql, openWorld, within } from './world.ts';

let world: MysqlWorld;
let client: mysql.Connection;

beforeAll(async () => {
  world = await openWorld();
  client = await mysql.createConnection(world.url);
  // The server's default is another one: an open transaction would keep its tables from being dropped.
  await client.query('SET autocommit = 1');
});

afterAll(async () => {
  await client.end();
  await world.close();
});

async function definitions(): Promise<string[]> {
  const [tables] = await client.query<mysql.RowDataPacket[]>('SHOW TABLES');
  const texts = tables.map(async (table) => {
    const [rows] = await client.query<mysql.RowDataPacket[]>(`SHOW CREATE TABLE ${Object.values(table)[0]}`);
    return String(rows[0]?.['Create Table']);
  });
  return Promise.all(texts);
}

it('makes the system tables once, when several sidecars start at once, and completes what a crash cut off', async () => {
  await world.engine.ping(within(5000));
  const whole = await definitions();
  expect(whole).toHaveLength(10);
  await client.query('DROP INDEX by_expiry ON _idempotency');
  await client.query('DROP TABLE _dead_letters, _meta');
  const engines = await Promise.all([1, 2, 3].map(() => openMysql(world.url)));
  for (const engine of engines) await engine.ping(within(5000));
  await Promise.all(engines.map((engine) => engine.close()));
  expect(await definitions()).toEqual(whole);
  const [rows] = await client.query('SELECT * FROM _meta');
  expect(rows).toEqual([{ name: 'format', value: '1' }]);
});

it.each(['_queues', '_queues_taken'])(
  'has places of journals for the owners of a version before in %s, once',
  async (name) => {
    await world.engine.ping(within(5000));
    const whole = await definitions();
    await client.query('DELETE FROM _journals');
    await client.query(`CREATE TABLE ${name} (namespace VARCHAR(64) PRIMARY KEY, journal VARCHAR(64), token BIGINT NOT NULL,
    position BIGINT NOT NULL, past LONGTEXT NOT NULL) COMMENT='sidecar system table'`);
    for (const { namespace, journal, token, position, past } of OWNED) {
      const values = [namespace, journal, token, position, JSON.stringify(past)];
      await client.query(`INSERT INTO ${name} VALUES (?, ?, ?, ?, ?)`, values);
    }
    const engines = await Promise.all([1, 2, 3].map(() => openMysql(world.url)));
    for (const { queues } of engines) expect(await queues.listQueues(null, within(5000))).toEqual(MOVED);
    await Promise.all(engines.map((engine) => engine.close()));
    expect(await definitions()).toEqual(whole);
  },
);
