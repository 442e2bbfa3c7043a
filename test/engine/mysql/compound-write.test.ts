import fc from 'fast-check';
import { createConnection } from 'mysql2/promise';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { IdempotencySlot, TableTarget, Write } from '#engine/rows.ts';
import { type MysqlProxy, startProxy } from './proxy.ts';
import { declare, filterOf, type MysqlWorld, openMysql, openWorld, rowsOf, within } from './world.ts';

/** MariaDB takes a write with a slot as one statement, which must do the same as the steps that it replaces. */
const COLUMNS = `"columns":[
  {"name":"id","type":"int64","autoIncrement":true},
  {"name":"code","type":"string","nullable":true,"unique":true},
  {"name":"sidecar_rows","type":"int32","default":0},
  {"name":"n","type":"int32","nullable":true,"unique":true}]`;
const TABLES = `[{"name":"things","primaryKey":["id"],${COLUMNS}},{"name":"twins","primaryKey":["id"],${COLUMNS}},
  {"name":"places","primaryKey":["code"],"columns":[
    {"name":"code","type":"string"},{"name":"n","type":"int32","nullable":true}]}]`;

const OUTCOME_UNKNOWN = { code: 'database_timeout', message: expect.stringContaining('unknown') };

let world: MysqlWorld;
let proxy: MysqlProxy;
/** Behind the proxy. */
let engine: Engine;
let targetOf: (name: string) => TableTarget;
let things: TableTarget;

beforeEach(async () => {
  world = await openWorld();
  targetOf = await declare(world.engine, TABLES);
  things = targetOf('things');
  proxy = await startProxy(world.url);
  engine = await openMysql(proxy.url, world.log, 2);
});
afterEach(async () => {
  await engine.close();
  await proxy.close();
  await world.close();
});

let keys = 0;

function nextKey(): string {
  keys += 1;
  return `key ${keys}`;
}

function slot(key = nextKey()): IdempotencySlot {
  const now = Date.now();
  return { kid: 'k', namespace: 'game', key, fingerprint: 'f', now, expiresAt: now + 600_000 };
}

const keyed = (write: Write, target = things, own = slot(), ms = 10_000) =>
  engine.write(target, write, own, within(ms));
const row = (values: Readonly<Record<string, string | bigint | number | null>>) => new Map(Object.entries(values));
const insertion = (...rows: Parameters<typeof row>[0][]): Write => ({ op: 'insert', rows: rows.map(row) });
const codeIs = (code: string) => filterOf(things.table, JSON.stringify({ field: 'code', op: 'eq', value: code }));
const adding = (code: string): Write => ({
  ...{ op: 'update', filter: codeIs(code), set: new Map(), inc: new Map([['sidecar_rows', 5n]]) },
});
const saving = (values: Parameters<typeof row>[0]): Write => ({
  ...{ op: 'upsert', row: row(values), keys: ['code'], update: ['sidecar_rows'] },
});

describe('a write with a slot', () => {
  it('takes one round trip', async () => {
    const places = targetOf('places');
    const calls: Record<string, () => Promise<string>> = {
      'insert of a row': () => keyed(insertion({ sidecar_rows: 1 })),
      'insert of rows with their keys': () => keyed(insertion({ code: nextKey() }, { code: nextKey() }), places),
      update: () => keyed(adding('a')),
      'update of nothing': () => keyed(adding('nobody')),
      'upsert of a row that exists': () => keyed(saving({ code: 'a', sidecar_rows: 7 })),
      'upsert of a new row': () => keyed(saving({ code: nextKey(), sidecar_rows: 7 })),
      'delete of nothing': () => keyed({ op: 'delete', filter: codeIs('nobody') }),
    };
    await keyed(insertion({ code: 'a', sidecar_rows: 1 }));
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

  it('whose answer is lost is done once, and answered', async () => {
    await keyed(insertion({ code: 'a', sidecar_rows: 0 }));
    await keyed(adding('a'));
    proxy.cutNextAnswer();
    expect(await keyed(adding('a'))).toBe('{"affected":1}');
    expect(await rowsOf(engine, things, { fields: ['sidecar_rows'] })).toBe('[{"sidecar_rows":10}]');
  });

  it('that is ended at its deadline leaves no transaction open, and can be repeated', async () => {
    await keyed(insertion({ code: 'a', sidecar_rows: 0 }));
    const other = await createConnection(world.url);
    const own = slot();
    try {
      await other.query('START TRANSACTION');
      await other.query('SELECT * FROM game__things FOR UPDATE');
      const calls = Array.from({ length: 6 }, () => keyed(adding('a'), things, slot(), 400));
      for (const outcome of await Promise.allSettled([...calls, keyed(adding('a'), things, own, 400)])) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'database_timeout' } });
      }
    } finally {
      await other.query('ROLLBACK');
      await other.end();
    }
    expect(await keyed(adding('a'), things, own)).toBe('{"affected":1}');
    expect(await keyed(adding('a'), things, own)).toBe('{"affected":1}');
    expect(await rowsOf(engine, things, { fields: ['sidecar_rows'] })).toBe('[{"sidecar_rows":5}]');
  });

  it('whose answer is lost, and which others are in the way of after that, may be done, and says so', async () => {
    await keyed(insertion({ code: 'a', sidecar_rows: 0 }));
    await keyed(adding('a'));
    proxy.doubtNextAndDeadlock();
    await expect(keyed(adding('a'), things, slot(), 1000)).rejects.toMatchObject(OUTCOME_UNKNOWN);
    expect(await rowsOf(world.engine, things, { fields: ['sidecar_rows'] })).toBe('[{"sidecar_rows":10}]');
  });

  it('that a server leaves without an answer may be done, and says so', async () => {
    await keyed(insertion({ code: 'a', sidecar_rows: 0 }));
    await keyed(adding('a'));
    proxy.freeze();
    await expect(keyed(adding('a'), things, slot('frozen'), 300)).rejects.toMatchObject(OUTCOME_UNKNOWN);
    proxy.thaw();
    expect(await keyed(adding('a'), things, slot('frozen'))).toBe('{"affected":1}');
    expect(await rowsOf(engine, things, { fields: ['sidecar_rows'] })).toBe('[{"sidecar_rows":10}]');
  });

  it('whose server is gone before its answer may be done, and says so', async () => {
    await keyed(insertion({ code: 'a', sidecar_rows: 0 }));
    await keyed(adding('a'));
    const death = proxy.dieAfter(1, true);
    await expect(keyed(adding('a'))).rejects.toMatchObject(OUTCOME_UNKNOWN);
    await death;
    expect(await rowsOf(world.engine, things, { fields: ['sidecar_rows'] })).toMatch(/:(5|10)}/);
  });

  it('finds an expired record, and takes its place', async () => {
    await keyed(insertion({ code: 'a', sidecar_rows: 0 }));
    const old = { ...slot('once'), now: 0, expiresAt: 1 };
    await keyed(adding('a'), things, old);
    expect(await keyed(adding('a'), things, slot('once'))).toBe('{"affected":1}');
    expect(await rowsOf(engine, things, { fields: ['sidecar_rows'] })).toBe('[{"sidecar_rows":10}]');
  });

  it('for a schema that has changed since does nothing', async () => {
    await keyed(insertion({ code: 'a', sidecar_rows: 0 }));
    const stale = { ...things, revision: things.revision + 1 };
    const writes = [
      insertion({ code: 'b', sidecar_rows: 0 }),
      adding('a'),
      adding('nobody'),
      saving({ code: 'a', sidecar_rows: 1 }),
    ];
    for (const write of [...writes, saving({ code: 'c', sidecar_rows: 1 }), { op: 'delete', filter: null } as const]) {
      await expect(keyed(write, stale), write.op).rejects.toThrow(/schema/);
    }
    expect(await rowsOf(engine, things, { fields: ['code', 'sidecar_rows'] })).toBe('[{"code":"a","sidecar_rows":0}]');
  });

  it('with the last id of the generator never has it drawn a second time', async () => {
    const last = 9_223_372_036_854_775_807n;
    expect(await keyed(insertion({ id: last, sidecar_rows: 0 }))).toBe(`{"inserted":1,"ids":[${last}]}`);
    expect(await keyed({ op: 'delete', filter: null })).toBe('{"affected":1}');
    await expect(keyed(insertion({ code: 'a', sidecar_rows: 0 }))).rejects.toMatchObject({
      code: 'constraint_violation',
    });
    expect(await rowsOf(engine, things)).toBe('[]');
  });
});

describe('writes', () => {
  const code = fc.constantFrom('a', 'b', 'c');
  const n = fc.option(fc.integer({ min: 1, max: 4 }));
  const values = fc.record({ code: fc.option(code), sidecar_rows: fc.integer({ min: -9, max: 9 }), n });
  const write = fc.oneof<fc.Arbitrary<Write>[]>(
    fc.array(values, { minLength: 1, maxLength: 3 }).map((rows) => insertion(...rows)),
    fc
      .record({ code, n })
      .map((found): Write => ({ op: 'update', filter: codeIs(found.code), set: row({ n: found.n }), inc: new Map() })),
    fc
      .constantFrom(1n, 2_147_483_647n)
      .map((amount): Write => ({ op: 'update', filter: null, set: new Map(), inc: new Map([['n', amount]]) })),
    fc.record({ code, n, sidecar_rows: fc.integer({ min: 0, max: 9 }) }).map(saving),
    code.map((found): Write => ({ op: 'delete', filter: codeIs(found) })),
  );

  it('have the same results and rows with a slot as without', { timeout: 120_000 }, async () => {
    const twins = targetOf('twins');
    const outcome = (call: Promise<string>) =>
      call.catch(({ code: reason, message }: { code: string; message: string }) => `${reason}: ${message}`);
    const rows = (target: TableTarget) => rowsOf(engine, target, { fields: ['code', 'sidecar_rows', 'n'] });
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 4, maxLength: 12 }), async (writes) => {
        for (const target of [things, twins])
          await engine.write(target, { op: 'delete', filter: null }, null, within(5000));
        for (const one of writes) {
          const [without, own] = [await outcome(engine.write(twins, one, null, within(5000))), slot()];
          const first = await outcome(keyed(one, things, own));
          const ids = /"ids":\[.*\]/;
          expect(first.replace(ids, '')).toBe(without.replace(ids, ''));
          if (first.startsWith('{')) expect(await keyed(one, things, own)).toBe(first);
          expect(await rows(things)).toBe(await rows(twins));
        }
      }),
      { numRuns: 25 },
    );
  });
});
