import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import { StaleSchemaError, type Write } from '#engine/rows.ts';
import type { ApiError } from '#protocol/errors.ts';
import type { Value } from '#protocol/values.ts';
import { startCountingProxy } from '#scripts/servers/counting-proxy.ts';
import { startFaultProxy } from '#support/fault-proxy.ts';
import { COLUMN_TYPES } from '../../support/model/types.ts';
import { connect, type PostgresWorld, postgresWorld, sync, within } from './schema-world.ts';
import { byId, declare, idsOf, insert, NOTES, note, openLogged, row, slotOf, where } from './world.ts';

let world: PostgresWorld;
let engine: Engine;

beforeAll(async () => {
  world = await postgresWorld();
  engine = await world.open();
});

afterAll(() => world.drop());

const FIND = { filter: null, fields: ['id', 'body'], sort: [], limit: 20, offset: 0, maxBytes: 1e7 };

describe('round trips', () => {
  it('a find, a count and a write take one each, with an idempotency key too', async () => {
    const proxy = await startCountingProxy(world.url);
    const { engine: counted } = await openLogged(proxy.url, 1);
    const target = await declare(counted, 'trips');
    const upsert = (id: number): Write => ({ op: 'upsert', row: note({ id }), keys: ['id'], update: ['body'] });
    const set = row({ body: 'y' });
    const calls: Readonly<Record<string, (slot: ReturnType<typeof slotOf> | null) => Promise<unknown>>> = {
      insert: (slot) => insert(counted, target, [note({}), note({})], 5000, slot),
      'insert with ids that were given before': (slot) =>
        insert(counted, target, [note({ id: -1 - target.revision })], 5000, slot),
      find: async () => counted.find(target, { ...FIND, filter: byId(target, 1) }, within(5000)),
      'find of nothing': async () => counted.find(target, { ...FIND, filter: byId(target, 999) }, within(5000)),
      count: () => counted.count(target, null, within(5000)),
      update: (slot) =>
        counted.write(
          target,
          { op: 'update', filter: byId(target, 1), set, inc: new Map([['n', 1n]]) },
          slot,
          within(5000),
        ),
      'upsert of a row that is there': (slot) => counted.write(target, upsert(1), slot, within(5000)),
      delete: (slot) => counted.write(target, { op: 'delete', filter: byId(target, 2) }, slot, within(5000)),
    };
    const trips: Record<string, number> = {};
    for (const [name, call] of Object.entries(calls)) {
      for (const slot of [null, slotOf(name)]) {
        const before = proxy.roundTrips();
        await call(slot);
        trips[`${name}${slot === null ? '' : ', keyed'}`] = proxy.roundTrips() - before;
        await counted.write(target, { op: 'delete', filter: byId(target, -1 - target.revision) }, null, within(5000));
        await insert(counted, target, [note({ id: 2 })]).catch(() => {});
      }
    }
    expect(trips).toEqual(Object.fromEntries(Object.keys(trips).map((name) => [name, 1])));
    await counted.close();
    await proxy.stop();
  });
});

describe('a generator', () => {
  it('goes on after ids that rows bring along, in the order of the rows', async () => {
    const target = await declare(engine, 'gen');
    expect(await insert(engine, target, [note({ id: 1 })])).toBe('{"inserted":1,"ids":[1]}');
    expect(await insert(engine, target, [note({}), note({ id: 50 }), note({})])).toBe('{"inserted":3,"ids":[2,50,51]}');
    expect(await insert(engine, target, [note({ id: 7 }), note({ id: -3 })])).toBe('{"inserted":2,"ids":[7,-3]}');
    expect(await insert(engine, target, [note({})])).toBe('{"inserted":1,"ids":[52]}');
    const upsert = { op: 'upsert', row: note({ id: 60 }), keys: ['id'], update: ['body'] } as const;
    await engine.write(target, upsert, null, within(5000));
    expect(await insert(engine, target, [note({})])).toBe('{"inserted":1,"ids":[61]}');
  });

  it('is not asked by an upsert of a row that is there, nor by a request that was answered before', async () => {
    const target = await declare(engine, 'unburnt');
    const upsert: Write = { op: 'upsert', row: note({ tag: 'a' }), keys: ['tag'], update: ['body'] };
    for (let i = 0; i < 3; i++) await engine.write(target, upsert, null, within(5000));
    for (let i = 0; i < 3; i++) {
      expect(await insert(engine, target, [note({})], 5000, slotOf('unburnt'))).toBe('{"inserted":1,"ids":[2]}');
    }
    expect(await insert(engine, target, [note({})])).toBe('{"inserted":1,"ids":[3]}');
  });

  it('gives no id twice to many who bring some along and some not', async () => {
    const target = await declare(engine, 'race');
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        insert(engine, target, i % 3 === 0 ? [note({}), note({ id: 1000 + i * 10 }), note({})] : [note({})]),
      ),
    );
    const ids = answers.flatMap((answer) => (JSON.parse(answer) as { readonly ids: number[] }).ids);
    expect(new Set(ids).size).toBe(50);
    expect(await idsOf(engine, target)).toEqual(ids.toSorted((a, b) => a - b));
  });

  it('at its end refuses, and inserts nothing', async () => {
    const target = await declare(engine, 'ended');
    await insert(engine, target, [note({ id: 2_147_483_647 })]);
    const refusal = { code: 'constraint_violation', message: expect.stringContaining('at its end') };
    await expect(insert(engine, target, [note({})])).rejects.toMatchObject(refusal);
    await expect(insert(engine, target, [note({ id: 5 }), note({})])).rejects.toMatchObject(refusal);
    expect(await idsOf(engine, target)).toEqual([2_147_483_647]);
  });

  it('fills rows that have nothing else', async () => {
    const bare = { name: 'bare', primaryKey: ['id'], columns: [{ name: 'id', type: 'int64', autoIncrement: true }] };
    const target = await declare(engine, 'bare', bare);
    expect(await insert(engine, target, [row({}), row({}), row({})])).toBe('{"inserted":3,"ids":[1,2,3]}');
  });
});

describe('idempotency', () => {
  it('twins of two sidecars write once, whatever they write', async () => {
    const target = await declare(engine, 'game');
    const other = await world.open();
    await insert(engine, target, [note({}), note({})]);
    const writes: readonly Write[] = [
      { op: 'insert', rows: [note({}), note({})] },
      { op: 'update', filter: null, set: new Map(), inc: new Map([['n', 1n]]) },
      { op: 'upsert', row: note({ tag: 'twin' }), keys: ['tag'], update: ['body'] },
      { op: 'delete', filter: byId(target, 1) },
      { op: 'insert', rows: [note({}), note({ id: 500 })] },
      { op: 'insert', rows: [note({ tag: 'only once' })] },
    ];
    for (const [i, write] of writes.entries()) {
      const before = await engine.count(target, null, within(5000));
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, twin) =>
          (twin % 2 === 0 ? engine : other).write(target, write, slotOf(`twin ${i}`), within(5000)),
        ),
      );
      const told = new Set(answers);
      expect(told.size).toBe(1);
      const { inserted = 0 } = JSON.parse([...told][0] as string) as { readonly inserted?: number };
      const grown = write.op === 'upsert' ? 1 : write.op === 'delete' ? -1 : inserted;
      expect((await engine.count(target, null, within(5000))) - before).toBe(grown);
    }
    const sums = await world.column('SELECT sum(n) FROM game__notes');
    expect(sums).toEqual(['3']);
  });

  it('another payload is refused; a record that has expired counts as none', async () => {
    const target = await declare(engine, 'expiry');
    const slot = { ...slotOf('again'), namespace: 'expiry' };
    await insert(engine, target, [note({})], 5000, slot);
    const conflict = { code: 'idempotency_conflict' };
    await expect(insert(engine, target, [note({})], 5000, { ...slot, fingerprint: 'g' })).rejects.toMatchObject(
      conflict,
    );
    await expect(
      engine.write(target, { op: 'delete', filter: null }, { ...slot, fingerprint: 'g' }, within(5000)),
    ).rejects.toMatchObject(conflict);
    const later = { ...slot, fingerprint: 'g', now: slot.expiresAt, expiresAt: slot.expiresAt + 1000 };
    expect(await insert(engine, target, [note({})], 5000, later)).toContain('"inserted":1');
    expect(await engine.count(target, null, within(5000))).toBe(2);
    const { kid, namespace, key } = slot;
    expect(await engine.recall(kid, namespace, key, later.now, within(5000))).toMatchObject({ fingerprint: 'g' });
  });

  it('records that have expired are removed by themselves, not by a clock that is ahead of the others', async () => {
    let nowMs = 1_000_000;
    const purging = await world.open({ now: () => 9_000_000, expiryNow: () => nowMs, purgeIntervalMs: 20 });
    const target = await declare(engine, 'purge');
    await insert(purging, target, [note({})], 5000, { ...slotOf('gone', 'f', nowMs), kid: 'purged' });
    const count = () => world.column("SELECT count(*) FROM _idempotency WHERE kid = 'purged'");
    const purges = () => purging.stats().commits;
    const before = purges();
    await expect.poll(purges).toBeGreaterThan(before + 2);
    expect(await count()).toEqual(['1']);
    nowMs += 600_000;
    await expect.poll(count).toEqual(['0']);
  });
});

describe('a schema that has changed meanwhile', () => {
  it('is noticed by every call, and nothing is done', async () => {
    const target = await declare(engine, 'stale');
    await insert(engine, target, [note({})]);
    const other = await world.open();
    await sync(other, 'stale', {
      tables: [{ ...NOTES, columns: [...NOTES.columns, { name: 'more', type: 'int32', default: 1 }] }],
    });
    const stale = async (call: Promise<unknown>) => expect(call).rejects.toBeInstanceOf(StaleSchemaError);
    const set = row({ body: 'z' });
    for (const slot of [null, slotOf('stale')]) {
      await stale(insert(engine, target, [note({})], 5000, slot));
      await stale(insert(engine, target, [note({ id: 90 })], 5000, slot));
      await stale(insert(engine, target, [note({ id: 90 }), note({})], 5000, slot));
      await stale(engine.write(target, { op: 'update', filter: null, set, inc: new Map() }, slot, within(5000)));
      await stale(engine.write(target, { op: 'delete', filter: null }, slot, within(5000)));
      await stale(
        engine.write(
          target,
          { op: 'upsert', row: note({ id: 1 }), keys: ['id'], update: ['body'] },
          slot,
          within(5000),
        ),
      );
      await stale(
        engine.write(target, { op: 'upsert', row: note({ tag: 't' }), keys: ['tag'], update: [] }, slot, within(5000)),
      );
    }
    await stale(Promise.resolve(engine.find(target, FIND, within(5000))));
    await stale(Promise.resolve(engine.find(target, { ...FIND, filter: byId(target, 77) }, within(5000))));
    await stale(engine.count(target, null, within(5000)));
    await sync(other, 'stale', { tables: [] });
    await stale(engine.count(target, null, within(5000)));
    expect(await engine.recall('local', 'game', 'stale', Date.now(), within(5000))).toBeNull();
    // The one row that was there before.
    const kept = await world.column("SELECT row_count FROM _quarantine WHERE namespace = 'stale'");
    expect(kept).toEqual(['1']);
  });

  it('a wider type takes what the narrow one refused, on connections that had prepared for it', async () => {
    const table = (type: string) => ({
      name: 'wide',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int64' },
        { name: 'n', type },
      ],
    });
    const narrow = await declare(engine, 'wide', table('int32'));
    for (let id = 0; id < 20; id++) {
      await insert(engine, narrow, [row({ id: BigInt(id), n: id })]);
      await engine.count(narrow, where(narrow, { field: 'n', op: 'eq', value: id }), within(5000));
    }
    const wide = await declare(engine, 'wide', table('int64'));
    for (let id = 20; id < 40; id++) {
      await insert(engine, wide, [row({ id: BigInt(id), n: 2n ** 60n + BigInt(id) })]);
      const filter = where(wide, { field: 'n', op: 'in', value: [Number.MAX_SAFE_INTEGER, id] });
      expect(await engine.count(wide, filter, within(5000))).toBe(0);
    }
  });
});

describe('upsert', () => {
  it('many of one new row that is unique in two ways never fail and never double', async () => {
    const target = await declare(engine, 'twice', {
      name: 'twice',
      primaryKey: ['a'],
      columns: [
        { name: 'a', type: 'string' },
        { name: 'b', type: 'string', unique: true },
        { name: 'n', type: 'int32' },
      ],
      indexes: [{ name: 'both', columns: ['b', 'a'], unique: true }],
    });
    for (let round = 0; round < 10; round++) {
      const upsert = (n: number, key: string): Write => ({
        op: 'upsert',
        row: row({ a: `${round}`, b: `${round}`, n }),
        keys: [key],
        update: key === 'a' ? ['b', 'n'] : ['n'],
      });
      await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          engine.write(target, upsert(n, n % 2 === 0 ? 'a' : 'b'), null, within(8000)),
        ),
      );
    }
    expect(await engine.count(target, null, within(5000))).toBe(10);
  });
});

describe('a deadlock', () => {
  it('is no matter of the caller: the statement that had to give way is repeated', async () => {
    const target = await declare(engine, 'deadlock');
    await insert(engine, target, [note({}), note({})]);
    const isWaiting = () =>
      world.column(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%deadlock\\_\\_notes%' AND datname = current_database()",
      );
    const increment: Write = { op: 'update', filter: null, set: new Map(), inc: new Map([['n', 1n]]) };
    // The server ends the statement that has waited for a second first: on a busy machine it may be the holder's.
    for (let isHolderEnded = true; isHolderEnded; ) {
      const holder = await connect(world.url);
      await holder.query('BEGIN ISOLATION LEVEL READ COMMITTED; UPDATE deadlock__notes SET n = 10 WHERE id = 2');
      const waiting = engine.write(target, increment, null, within(10_000));
      await expect.poll(isWaiting).toEqual(['1']);
      isHolderEnded = await holder.query('UPDATE deadlock__notes SET n = 10 WHERE id = 1').then(
        () => false,
        (error: { code?: string }) => {
          if (error.code !== '40P01') throw error;
          return true;
        },
      );
      await holder.query('COMMIT');
      await holder.end();
      expect(await waiting).toBe('{"affected":2}');
    }
    expect(await world.column('SELECT n FROM deadlock__notes')).toEqual(['11', '11']);
  });
});

describe('a conflict', () => {
  /** The next `times` updates end with a serialization failure, as those of a cluster do. */
  async function refuse(target: { namespace: string }, times: number): Promise<void> {
    await world.client.query(`CREATE SEQUENCE ${target.namespace}_turns;
      CREATE FUNCTION ${target.namespace}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('${target.namespace}_turns') <= ${times} THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON ${target.namespace}__notes
        FOR EACH STATEMENT EXECUTE FUNCTION ${target.namespace}_refuse()`);
  }

  const increment: Write = { op: 'update', filter: null, set: new Map(), inc: new Map([['n', 1n]]) };

  it('is repeated as often as there is time, and done once', async () => {
    const target = await declare(engine, 'conflicts');
    await insert(engine, target, [note({ n: 1 })]);
    await refuse(target, 20);
    expect(await engine.write(target, increment, null, within(20_000))).toBe('{"affected":1}');
    expect(await world.column('SELECT n FROM conflicts__notes')).toEqual(['2']);
  });

  it('that does not end is told before the time is over', async () => {
    const target = await declare(engine, 'endless');
    await insert(engine, target, [note({ n: 1 })]);
    await refuse(target, 1_000_000);
    const code = await engine.write(target, increment, null, within(1500)).catch((error: ApiError) => error.code);
    // The last attempt may be ended in its middle.
    expect(['conflict_retry', 'database_timeout']).toContain(code);
    expect(await world.column('SELECT n FROM endless__notes')).toEqual(['1']);
  });
});

describe('what is refused', () => {
  it('names the columns, never the values', async () => {
    const target = await declare(engine, 'refused');
    await insert(engine, target, [note({ tag: 'secret (body)=(1)' })]);
    const again = insert(engine, target, [note({ tag: 'secret (body)=(1)' })]);
    await expect(again).rejects.toMatchObject({
      code: 'constraint_violation',
      message: 'a row with this tag already exists',
    });
  });

  it('an inc out of range changes nothing, however far it goes', async () => {
    const target = await declare(engine, 'inc');
    await insert(engine, target, [note({ n: 2n ** 63n - 1n }), note({ n: -(2n ** 63n) })]);
    const inc = (amount: bigint, id: number) =>
      engine.write(
        target,
        { op: 'update', filter: byId(target, id), set: new Map(), inc: new Map([['n', amount]]) },
        null,
        within(5000),
      );
    for (const amount of [1n, 2n ** 64n]) await expect(inc(amount, 1)).rejects.toMatchObject({ code: 'invalid_value' });
    await inc(-(2n ** 64n) + 1n, 1);
    await inc(2n ** 64n - 1n, 2);
    const { rows } = await engine.find(target, { ...FIND, fields: ['n'] }, within(5000));
    expect(rows).toBe(`[{"n":${-(2n ** 63n)}},{"n":${2n ** 63n - 1n}}]`);
  });
});

describe('contains', () => {
  it('takes parts of any length that a filter admits as they are', async () => {
    const target = await declare(engine, 'parts', {
      name: 'parts',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int32' },
        { name: 'body', type: 'text', nullable: true },
      ],
    });
    const piece = String.raw`(?i)***=a.b*\d[é${'\n'}]{2}|𝒳^$+%_'"`;
    const bodies = [piece.repeat(400), piece.repeat(400).toUpperCase(), `x${piece.repeat(40)}`, 'short', null];
    await insert(
      engine,
      target,
      bodies.map((body, id) => row({ id, body })),
    );
    const points = [...piece.repeat(400)];
    for (const length of [1, 30, 64, 65, 400, 998, 999]) {
      for (const from of [0, 7, 19]) {
        const part = points.slice(from, from + length).join('');
        for (const value of [part, `${part}!`]) {
          const filter = where(target, { field: 'body', op: 'contains', value });
          const not = where(target, { not: { field: 'body', op: 'contains', value } });
          const expected = bodies.filter((body) => body?.includes(value) === true).length;
          expect(await engine.count(target, filter, within(5000))).toBe(expected);
          expect(await engine.count(target, not, within(5000))).toBe(4 - expected);
        }
      }
    }
  });

  it('ends in time for a part that is hard to find', async () => {
    const target = await declare(engine, 'hard');
    await insert(engine, target, [note({ body: 'a'.repeat(1_000_000) })]);
    for (const value of [`b${'a'.repeat(999)}`, `${'a'.repeat(500)}b${'a'.repeat(499)}`]) {
      const filter = where(target, { field: 'body', op: 'contains', value });
      expect(await engine.count(target, filter, within(4000))).toBe(0);
    }
  });
});

describe('lists', () => {
  it('as many as a filter admits, one more of the key by each, are answered and leave no statement behind', async () => {
    const target = await declare(engine, 'lists');
    await insert(engine, target, [note({ id: 1 }), note({ id: 500 }), note({ id: 1001 })]);
    const values = Array.from({ length: 1000 }, (_, i) => i + 1);
    const among = { field: 'id', op: 'in', value: values };
    const notOutside = { not: { field: 'id', op: 'nin', value: values } };
    const filter = where(target, { and: Array.from({ length: 63 }, () => [among, notOutside]).flat() });
    expect(await engine.count(target, filter, within(20_000))).toBe(2);
    // A statement that the server cannot end would hold the table.
    expect(await sync(engine, 'lists', { tables: [] })).not.toBeNull();
  });
});

describe('large values', () => {
  it('a page of megabytes leaves the rest of them on the server', async () => {
    const target = await declare(engine, 'large');
    const body = 'é'.repeat(400_000);
    for (let i = 0; i < 12; i++) await insert(engine, target, [note({ body })]);
    const proxy = await startFaultProxy(world.url);
    const { engine: measured } = await openLogged(proxy.url, 1);
    const page = await measured.find(target, { ...FIND, limit: 1000, maxBytes: 2_000_000 }, within(10_000));
    expect(JSON.parse(page.rows)).toEqual([1, 2].map((id) => ({ id, body })));
    expect(page.hasMore).toBe(true);
    expect(proxy.answeredBytes()).toBeLessThan(3_500_000);
    await measured.close();
    await proxy.stop();
    const one = await engine.find(target, { ...FIND, limit: 1000, maxBytes: 10 }, within(10_000));
    expect(JSON.parse(one.rows)).toEqual([{ id: 1, body }]);
    expect(one.hasMore).toBe(true);
    const last = await engine.find(target, { ...FIND, limit: 1000, offset: 11, maxBytes: 10 }, within(10_000));
    expect(JSON.parse(last.rows)).toEqual([{ id: 12, body }]);
    expect(last.hasMore).toBe(false);
  });
});

describe('what the database and the account have set', () => {
  const HOSTILE = {
    statement_timeout: '100ms',
    lock_timeout: '50ms',
    array_nulls: 'off',
    bytea_output: 'escape',
    DateStyle: 'Postgres, DMY',
    TimeZone: 'Asia/Kathmandu',
    extra_float_digits: '-10',
    transform_null_equals: 'on',
    synchronous_commit: 'off',
    quote_all_identifiers: 'on',
    default_transaction_isolation: 'serializable',
  };
  const name = () => new URL(world.url).pathname.slice(1);

  beforeAll(async () => {
    for (const [setting, value] of Object.entries(HOSTILE)) {
      await world.client.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name()} SET ${setting} = '${value}'`);
    }
  });
  afterAll(() => world.client.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name()} RESET ALL`));

  const nullable = COLUMN_TYPES.map((type) => ({ name: `a_${type}`, type, nullable: true }));
  const ZOO = { name: 'zoo', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }, ...nullable] };
  const bytes = new Uint8Array([0, 1, 92, 39, 255]);
  const uuid = '0198d6b5-0000-7000-8000-00000000000f';
  const kept = [
    [
      -1,
      -(2n ** 63n),
      '-99999999999999.9999',
      5e-324,
      false,
      'NULL',
      '\\"{},',
      '{"a":[1e400,null]}',
      '0001-01-01T00:00:00.001Z',
      '0001-01-01',
      uuid,
      bytes,
    ],
    [
      0,
      2n ** 63n - 1n,
      '0',
      0.1 + 0.2,
      true,
      '',
      "'; --",
      '"\\u2028"',
      '9999-12-31T23:59:59.999Z',
      '9999-12-31',
      uuid,
      new Uint8Array(),
    ],
    COLUMN_TYPES.map(() => null),
  ] as const;

  it('makes no difference to values, one by one and many at once', async () => {
    const used = await world.open();
    const target = await declare(used, 'zoo', ZOO);
    const rows = kept.map((values, id) =>
      row({ id, ...Object.fromEntries(COLUMN_TYPES.map((type, i) => [`a_${type}`, values[i] ?? null])) }),
    );
    const shifted = rows.map((one) => new Map([...one, ['id', 10 + Number(one.get('id'))] as const]));
    for (const one of rows) await insert(used, target, [one]);
    await insert(used, target, shifted);
    const fields = nullable.map((column) => column.name);
    const { rows: text } = await used.find(target, { ...FIND, fields }, within(5000));
    const expected = kept.map((values) => {
      const cells = COLUMN_TYPES.map((type, i) => `"a_${type}":${cell(type, values[i] ?? null)}`);
      return `{${cells.join(',')}}`;
    });
    expect(text).toBe(`[${[...expected, ...expected].join(',')}]`);
  });

  function cell(type: string, value: Value): string {
    if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('base64')}"`;
    return typeof value === 'string' && type !== 'decimal' && type !== 'json' ? JSON.stringify(value) : String(value);
  }

  it('ends no statement before its deadline, and none at a conflict that is not there', async () => {
    const used = await world.open();
    const target = await declare(used, 'patient');
    await insert(used, target, [note({})]);
    const holder = await connect(world.url);
    await holder.query('BEGIN ISOLATION LEVEL READ COMMITTED; UPDATE patient__notes SET n = 5');
    const increment: Write = { op: 'update', filter: null, set: new Map(), inc: new Map([['n', 1n]]) };
    const waiting = used.write(target, increment, null, within(10_000));
    const isWaiting = () =>
      world.column(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND clock_timestamp() - query_start > '300ms'",
      );
    await expect.poll(isWaiting).toEqual(['1']);
    await holder.query('COMMIT');
    await holder.end();
    expect(await waiting).toBe('{"affected":1}');
    expect(await world.column('SELECT n FROM patient__notes')).toEqual(['6']);
  });
});

describe('a database that must not be used', () => {
  it('is told when it cannot hold every text', async () => {
    const admin = await connect(world.url);
    const name = `${new URL(world.url).pathname.slice(1)}_latin`;
    await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    try {
      const url = new URL(world.url);
      url.pathname = `/${name}`;
      const settings = { provider: 'postgres', url: url.href, poolSize: 1, statementTimeoutMs: 4000 } as const;
      const opening = openEngine(settings, { log: () => {}, now: Date.now });
      await expect(opening).rejects.toThrow(/encoding LATIN1.*UTF8/);
    } finally {
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    }
  });
});
