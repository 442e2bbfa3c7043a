import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { IdempotencySlot, TableTarget, Write } from '#engine/rows.ts';
import { type MysqlProxy, startProxy } from './proxy.ts';
import { declare, filterOf, type MysqlWorld, openMysql, openWorld, rowsOf, within, write } from './world.ts';

const TABLES = `[{"name":"things","primaryKey":["id"],"columns":[
  {"name":"id","type":"int64","autoIncrement":true},
  {"name":"code","type":"string","nullable":true,"unique":true},
  {"name":"body","type":"text","nullable":true},
  {"name":"n","type":"int32","nullable":true}]}]`;
const POOL_SIZE = 3;

let world: MysqlWorld;
let proxy: MysqlProxy;
/** Behind the proxy. */
let engine: Engine;
let target: TableTarget;

beforeEach(async () => {
  world = await openWorld();
  target = (await declare(world.engine, TABLES))('things');
  proxy = await startProxy(world.url);
  engine = await openMysql(proxy.url, world.log, POOL_SIZE);
});
afterEach(async () => {
  proxy.thaw();
  await engine.close();
  await proxy.close();
  await world.close();
});

const insertion = (code: string): Write => ({ op: 'insert', rows: [new Map([['code', code]])] });
const codes = async (): Promise<string> => rowsOf(world.engine, target, { fields: ['code'] });

function slot(key: string): IdempotencySlot {
  const now = Date.now();
  return { kid: 'k', namespace: 'game', key, fingerprint: 'f', now, expiresAt: now + 600_000 };
}

/** Sessions that the server has on the database under test. */
async function sessions(): Promise<number> {
  const connection = await createConnection(world.url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(
      'SELECT count(*) AS n FROM information_schema.processlist WHERE db = DATABASE()',
    );
    return Number(rows[0]?.n) - 1;
  } finally {
    await connection.end();
  }
}

describe('round trips', () => {
  it('find, count, insert, update, delete, and upsert of a row that exists take one each', async () => {
    const filter = filterOf(target.table, '{"field":"code","op":"startsWith","value":"a"}');
    const row = new Map([['code', 'a1']]);
    const calls: Record<string, () => Promise<unknown>> = {
      insert: () => write(engine, target, { op: 'insert', rows: [row, new Map([['code', 'a2']])] }),
      find: () => rowsOf(engine, target, { filter }),
      'find of nothing': () => rowsOf(engine, target, { filter, offset: 5 }),
      count: () => engine.count(target, filter, within(5000)),
      update: () => write(engine, target, { op: 'update', filter, set: new Map([['n', 1]]), inc: new Map() }),
      upsert: () => write(engine, target, { op: 'upsert', row, keys: ['code'], update: ['body'] }),
      delete: () => write(engine, target, { op: 'delete', filter }),
    };
    // The first time on a connection each is prepared.
    for (const call of Object.values(calls)) await call();
    proxy.roundTrips();
    const trips: Record<string, number> = {};
    for (const [name, call] of Object.entries(calls)) {
      await call();
      trips[name] = proxy.roundTrips();
    }
    expect(trips).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, 1])));
  });

  it('a table more in a first sync takes two: is its name free, and make it', async () => {
    const tripsOf = async (namespace: string, count: number): Promise<number> => {
      const tables = Array.from(
        { length: count },
        (_, i) => `{"name":"t${i}","primaryKey":["id"],"columns":[{"name":"id","type":"int64"}]}`,
      );
      proxy.roundTrips();
      await declare(engine, `[${tables.join(',')}]`, namespace);
      return proxy.roundTrips();
    };
    const few = await tripsOf('few', 10);
    // A slow machine checks its lease again, once a second.
    expect((await tripsOf('many', 40)) - few).toBeLessThan(2.5 * 30);
  });
});

describe('a connection that is lost', () => {
  it('while it was idle: nobody notices', async () => {
    await write(engine, target, insertion('a'));
    proxy.cut();
    await sessions();
    await write(engine, target, insertion('b'));
    proxy.cut();
    await sessions();
    expect(await rowsOf(engine, target, { fields: ['code'] })).toBe('[{"code":"a"},{"code":"b"}]');
  });

  it('under a read: it is read again', async () => {
    await write(engine, target, insertion('a'));
    proxy.cutNextAnswer();
    expect(await engine.count(target, null, within(5000))).toBe(1);
  });

  it('under a write: the outcome is unknown, it is not written again, and the key tells what became of it', async () => {
    await write(engine, target, insertion('a'));
    proxy.cutNextAnswer();
    await expect(write(engine, target, insertion('b'))).rejects.toMatchObject({
      code: 'database_timeout',
      message: expect.stringContaining('unknown'),
    });
    expect(await codes()).toBe('[{"code":"a"},{"code":"b"}]');
  });

  it('in a transaction before its commit: it is done again, once', async () => {
    const keyed = () => engine.write(target, insertion('c'), slot('c'), within(5000));
    proxy.cutNextAnswer();
    const first = await keyed();
    expect(await keyed()).toBe(first);
    expect(await codes()).toBe('[{"code":"c"}]');
  });
});

// Seen with three nodes of Galera: the others may have a commit of a node that they cut off.
describe('a commit that fails in the middle', () => {
  const UNKNOWN = { code: 'database_timeout', message: expect.stringContaining('unknown') };
  const together = (code: string, own: IdempotencySlot | null) => {
    const operations = [insertion(code), insertion(`${code}2`)].map((one) => ({ target, write: one, expected: null }));
    return engine.batch({ namespace: 'game', isAtomic: true, operations }, own, within(5000));
  };

  it('of one statement: the outcome is unknown, and it is not written again', async () => {
    await write(engine, target, { op: 'insert', rows: [new Map([['n', 1n]])] });
    proxy.doubtNext('statement');
    await expect(write(engine, target, { op: 'insert', rows: [new Map([['n', 2n]])] })).rejects.toMatchObject(UNKNOWN);
    expect(await rowsOf(world.engine, target, { fields: ['n'] })).toBe('[{"n":1},{"n":2}]');
  });

  it('of a batch: the outcome is unknown, and its key tells what became of it', async () => {
    proxy.doubtNext('commit');
    await expect(together('a', slot('batch'))).rejects.toMatchObject(UNKNOWN);
    await together('a', slot('batch'));
    proxy.doubtNext('commit');
    await expect(together('b', null)).rejects.toMatchObject(UNKNOWN);
    expect(await codes()).toBe('[{"code":"a"},{"code":"a2"},{"code":"b"},{"code":"b2"}]');
  });

  it('of a write with a key: it is looked up, and done once', async () => {
    await engine.write(target, insertion('a'), slot('a'), within(5000));
    proxy.doubtNext('statement');
    const first = await engine.write(target, insertion('b'), slot('b'), within(5000));
    expect(await engine.write(target, insertion('b'), slot('b'), within(5000))).toBe(first);
    expect(await codes()).toBe('[{"code":"a"},{"code":"b"}]');
  });
});

describe('a server that hangs', () => {
  it('holds up no call beyond its deadline, neither ping nor close, and leaves no session behind', async () => {
    await write(engine, target, insertion('a'));
    proxy.freeze();
    const started = performance.now();
    const calls = [
      engine.ping(within(300)),
      ...Array.from({ length: 8 }, () => engine.count(target, null, within(300))),
      ...Array.from({ length: 8 }, (_, i) => engine.write(target, insertion(`b${i}`), null, within(300))),
    ];
    const outcomes = await Promise.allSettled(calls);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(new Set(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code))).toEqual(
      new Set(['database_timeout']),
    );
    const closing = performance.now();
    await engine.close();
    expect(performance.now() - closing).toBeLessThan(2500);
    proxy.thaw();
    proxy.cut();
    await expect.poll(sessions).toBeLessThanOrEqual(1);
  });

  it('is used again when it goes on, and never with more connections than the pool', async () => {
    proxy.freeze();
    await expect(engine.count(target, null, within(300))).rejects.toMatchObject({ code: 'database_timeout' });
    proxy.thaw();
    await expect.poll(() => engine.count(target, null, within(5000)).catch(() => -1), { timeout: 10_000 }).toBe(0);
    await Promise.all(Array.from({ length: 30 }, () => engine.count(target, null, within(5000))));
    expect(proxy.connections).toBeLessThanOrEqual(POOL_SIZE);
  });
});

it('a server that hangs at the start is told to the owner', async () => {
  proxy.freeze();
  const log: MysqlWorld['log'] = [];
  const late = await openMysql(proxy.url, log, 1);
  expect(log).toMatchObject([{ level: 'error', message: expect.stringContaining('cannot be reached') }]);
  proxy.thaw();
  await late.close();
});

describe('deadlines', () => {
  it('many slow statements leave the pool whole', async () => {
    const other = await createConnection(world.url);
    try {
      await write(engine, target, insertion('a'));
      await other.query('START TRANSACTION');
      await other.query('SELECT * FROM game__things FOR UPDATE');
      const change: Write = { op: 'update', filter: null, set: new Map([['n', 1]]), inc: new Map() };
      const outcomes = await Promise.allSettled(
        Array.from({ length: 12 }, () => engine.write(target, change, null, within(400))),
      );
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'database_timeout' } });
        expect(String(outcome.status === 'rejected' && outcome.reason.message)).not.toContain('unknown');
      }
    } finally {
      await other.query('ROLLBACK');
      await other.end();
    }
    expect(await write(engine, target, { op: 'delete', filter: null })).toBe('{"affected":1}');
    expect(proxy.connections).toBeLessThanOrEqual(POOL_SIZE);
    expect(engine.stats()).toMatchObject({ waitingReads: 0, runningReads: 0, waitingWrites: 0 });
  });

  it('of two that wait for each other one is done again', async () => {
    await write(engine, target, { op: 'insert', rows: [1, 2].map((n) => new Map([['n', n]])) });
    const other = await createConnection(world.url);
    try {
      await other.query('START TRANSACTION');
      await other.query('UPDATE game__things SET n = n + 10 WHERE id = 2');
      const both: Write = { op: 'update', filter: null, set: new Map(), inc: new Map([['n', 1n]]) };
      const waiting = write(engine, target, both);
      const blocked = 'SELECT count(*) AS n FROM information_schema.processlist WHERE info LIKE ? AND time_ms > 50';
      await expect
        .poll(async () =>
          Number((await other.query<RowDataPacket[]>(blocked, ['UPDATE `game__things` SET `n`%']))[0][0]?.n),
        )
        .toBeGreaterThan(0);
      // More changes make it the one that survives.
      await other.query('INSERT INTO game__things (n) SELECT 0 FROM information_schema.columns LIMIT 50');
      await other.query('UPDATE game__things SET n = n + 10 WHERE id = 1');
      await other.query('ROLLBACK');
      expect(await waiting).toBe('{"affected":2}');
    } finally {
      await other.end();
    }
    expect(await rowsOf(engine, target, { fields: ['n'] })).toBe('[{"n":2},{"n":3}]');
  });
});
