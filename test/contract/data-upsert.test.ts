import { beforeEach, describe, expect, it } from 'vitest';
import { declare, outcome, PATIENT, rowsOf, useSidecar } from './data-world.ts';

/** `update` and `inc` of an upsert (contract section 11). */

const BUFFERED = 'later';
const world = useSidecar({
  config: {
    ...PATIENT,
    writeBehind: { flushIntervalMs: 600_000, flushAtPending: 100_000, namespaces: { [BUFFERED]: {} } },
  },
});
let namespace = '';

const SCORES = {
  name: 'scores',
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int64', autoIncrement: true },
    { name: 'name', type: 'string', unique: true },
    { name: 'kills', type: 'int32' },
    { name: 'money', type: 'decimal', precision: 34, scale: 4, default: '100.5' },
    { name: 'far', type: 'int64', nullable: true },
    { name: 'ratio', type: 'float64', nullable: true },
    { name: 'title', type: 'string', default: 'rookie' },
    { name: 'rank', type: 'int32', nullable: true, unique: true },
  ],
};
const FRESH = { kills: 0, money: 100.5, far: null, ratio: null, title: 'rookie', rank: null };

beforeEach(async () => {
  namespace = await declare(world.client, SCORES);
});

const call = (payload: object) =>
  world.client.call('upsert', { namespace, table: 'scores', keys: ['name'], ...payload });
const affected = async (payload: object) => (await call(payload)).result.affected;
const refusal = async (payload: object) => outcome(await call(payload));
const rows = (fields?: string[]) =>
  rowsOf(world.client, { namespace, table: 'scores', ...(fields === undefined ? {} : { fields }) });

describe('update', () => {
  it('names the only columns that an existing row takes; a new one takes them all', async () => {
    const row = { name: 'a', kills: 1, title: 'chief' };
    expect(await affected({ row, update: ['kills'] })).toBe(1);
    expect(await affected({ row: { name: 'a', kills: 7, title: 'nobody' }, update: ['kills'] })).toBe(1);
    expect(await rows()).toEqual([{ id: 1, ...FRESH, ...row, kills: 7 }]);
  });

  it('that is empty inserts if missing, and affects nothing where the row is there', async () => {
    expect(await affected({ row: { name: 'a', kills: 1 }, update: [] })).toBe(1);
    expect(await affected({ row: { name: 'a', kills: 2 }, update: [] })).toBe(0);
    expect(await affected({ row: { name: 'a', kills: 3 }, update: [], inc: {} })).toBe(0);
    const again = { row: { name: 'a', kills: 4 }, update: [], idempotencyKey: 'k' };
    expect([await affected(again), await affected(again)]).toEqual([0, 0]);
    const fresh = { row: { name: 'b', kills: 5 }, update: [], idempotencyKey: 'l' };
    expect([await affected(fresh), await affected(fresh)]).toEqual([1, 1]);
    expect(await rows(['name', 'kills'])).toEqual([
      { name: 'a', kills: 1 },
      { name: 'b', kills: 5 },
    ]);
  });

  it('many at once insert one row, and one of them has done it', async () => {
    const upserts = Array.from({ length: 60 }, (_, i) => affected({ row: { name: 'one', kills: i }, update: [] }));
    const counts = await Promise.all(upserts);
    expect(counts.toSorted()).toEqual([...Array.from({ length: 59 }, () => 0), 1]);
    expect(await rows(['kills'])).toEqual([{ kills: counts.indexOf(1) }]);
  });
});

describe('inc', () => {
  it('adds to an existing row, and to what a new one begins with: its own value, the default, else 0', async () => {
    const inc = { kills: 1, money: '0.0001', far: 3, ratio: 0.5, rank: 2 };
    expect(await affected({ row: { name: 'a' }, inc })).toBe(1);
    const begun = { kills: 1, money: 100.5001, far: 3, ratio: 0.5, rank: 2, title: 'rookie' };
    expect(await rows()).toEqual([{ id: 1, name: 'a', ...begun }]);
    expect(await affected({ row: { name: 'a', kills: 50, title: 'chief' }, inc })).toBe(1);
    const added = { kills: 2, money: 100.5002, far: 6, ratio: 1, rank: 4, title: 'chief' };
    expect(await rows()).toEqual([{ id: 1, name: 'a', ...added }]);
    expect(
      await affected({ row: { name: 'b', kills: 50, money: 0, far: null }, inc: { kills: -1, money: 1, far: 2 } }),
    ).toBe(1);
    expect((await rows())[1]).toMatchObject({ ...FRESH, kills: 49, money: 1, far: 2 });
  });

  it('counts an existing NULL from 0, and leaves what `update` does not name', async () => {
    await affected({ row: { name: 'a', kills: 1, title: 'chief' } });
    expect(await affected({ row: { name: 'a', kills: 9, title: 'x' }, update: [], inc: { far: -4 } })).toBe(1);
    expect(await affected({ row: { name: 'a', kills: 8, title: 'y' }, update: ['kills'], inc: { far: 0 } })).toBe(1);
    expect(await rows()).toMatchObject([{ kills: 8, title: 'chief', far: -4 }]);
  });

  it('is exact where no double is', async () => {
    const send = (row: string) =>
      world.client.call(
        'upsert',
        `{"namespace":"${namespace}","table":"scores","keys":["name"],"row":${row},"inc":{"far":1,"money":"0.0001"}}`,
      );
    const great = '"far":9007199254740993,"money":"123456789012345678901234567890.0001"';
    expect(outcome(await send(`{"name":"a","kills":0,${great}}`))).toBe('200');
    expect(outcome(await send('{"name":"a","kills":0}'))).toBe('200');
    const { text } = await world.client.call('find', { namespace, table: 'scores', fields: ['far', 'money'] });
    expect(text).toContain('"far":9007199254740995,"money":123456789012345678901234567890.0003');
  });

  it('out of range changes nothing, and inserts nothing; an existing row does not care what a new one would begin with', async () => {
    const most = 2 ** 31 - 1;
    expect(await refusal({ row: { name: 'a', kills: most }, inc: { kills: 1 } })).toBe('400 invalid_value');
    expect(await refusal({ row: { name: 'a', id: 50, kills: most }, inc: { kills: 1 } })).toBe('400 invalid_value');
    expect(await rows()).toEqual([]);
    await affected({ row: { name: 'a', kills: 5 } });
    expect(await affected({ row: { name: 'a', kills: most, title: 'b' }, inc: { kills: 1 } })).toBe(1);
    expect(await rows()).toMatchObject([{ kills: 6, title: 'b' }]);
    const keyed = { row: { name: 'a', kills: 0, title: 'c' }, inc: { kills: most }, idempotencyKey: 'k' };
    for (let i = 0; i < 2; i++) expect(await refusal(keyed)).toBe('400 invalid_value');
    expect(await refusal({ row: { name: 'a', title: 'c' }, inc: { ratio: 1e308, kills: most } })).toBe(
      '400 invalid_value',
    );
    expect(await rows()).toMatchObject([{ kills: 6, title: 'b', ratio: null }]);
  });

  it('of a unique column collides like any other value', async () => {
    await affected({ row: { name: 'a', kills: 0, rank: 1 } });
    await affected({ row: { name: 'b', kills: 0, rank: 2 } });
    expect(await refusal({ row: { name: 'a', kills: 0 }, inc: { rank: 1 } })).toBe('409 constraint_violation');
    expect(await refusal({ row: { name: 'c', kills: 0 }, inc: { rank: 2 } })).toBe('409 constraint_violation');
    expect(await affected({ row: { name: 'a' }, inc: { rank: 2, kills: 0 } })).toBe(1);
    expect(await rows(['name', 'rank'])).toEqual([
      { name: 'a', rank: 3 },
      { name: 'b', rank: 2 },
    ]);
  });

  it('by many at once of one key, with and without keys of their own: none fails, none is lost', async () => {
    const upserts = Array.from({ length: 200 }, (_, i) =>
      call({
        row: { name: `n${i % 2}`, ...(i % 3 === 0 ? { id: 70 + (i % 2) } : {}) },
        inc: { kills: 1, money: '0.01' },
        ...(i % 4 < 2 ? {} : { idempotencyKey: `k${i}` }),
      }),
    );
    expect(new Set((await Promise.all(upserts)).map(outcome))).toEqual(new Set(['200']));
    const found = await rows(['name', 'kills', 'money']);
    expect(found.toSorted((a, b) => (String(a.name) < String(b.name) ? -1 : 1))).toEqual([
      { name: 'n0', kills: 100, money: 101.5 },
      { name: 'n1', kills: 100, money: 101.5 },
    ]);
  });

  it('is done once for an idempotency key, whatever came in between', async () => {
    const keyed = { row: { name: 'a' }, inc: { kills: 1 }, idempotencyKey: 'k' };
    expect([await affected(keyed), await affected({ ...keyed, idempotencyKey: 'l' }), await affected(keyed)]).toEqual([
      1, 1, 1,
    ]);
    expect(await rows(['kills'])).toEqual([{ kills: 2 }]);
    expect(await refusal({ ...keyed, inc: { kills: 2 } })).toBe('422 idempotency_conflict');
    expect(await refusal({ ...keyed, update: [] })).toBe('422 idempotency_conflict');
  });
});

describe('a queued upsert', () => {
  it('means the same, in its order, also where it ends as a dead letter', async () => {
    const table = 'scores';
    await world.client.must('schema.sync', { namespace: BUFFERED, schema: { tables: [SCORES] } });
    const queue = async (operation: string, payload: object) =>
      outcome(await world.client.call(operation, { namespace: BUFFERED, table, ...payload }));
    const upsert = (payload: object) => queue('upsert', { keys: ['name'], ...payload });
    const answers = [
      await upsert({ row: { name: 'a' }, inc: { kills: 1 } }),
      await upsert({ row: { name: 'b', kills: 5 }, update: [] }),
      await upsert({ row: { name: 'a' }, inc: { kills: 2 ** 31 - 1 } }),
      await upsert({ row: { name: 'a', kills: 9, title: 'x' }, update: ['title'] }),
      await upsert({ row: { name: 'b', kills: 6 }, update: [] }),
      await upsert({ row: { name: 'c', kills: 2 ** 31 - 1 }, inc: { kills: 1 } }),
      await upsert({ row: { name: 'a' }, inc: { kills: 2, far: 0.5 } }),
      await queue('delete', { filter: { field: 'name', op: 'eq', value: 'b' } }),
      await upsert({ row: { name: 'b' }, inc: { kills: -1 } }),
      await upsert({ row: { name: 'b', kills: 70 }, inc: { kills: -1 } }),
    ];
    expect(new Set(answers.splice(6, 1))).toEqual(new Set(['400 invalid_value']));
    expect(new Set(answers)).toEqual(new Set(['200']));
    expect(await upsert({ row: { name: 'a' }, inc: { title: 1 } })).toBe('400 invalid_request');
    expect(await world.client.must('flush', { namespace: BUFFERED })).toMatchObject({
      flushed: 7,
      deadLettered: 2,
      remaining: 0,
    });
    const found = await rowsOf(world.client, {
      namespace: BUFFERED,
      table,
      fields: ['name', 'kills', 'title'],
      sort: [{ field: 'name' }],
    });
    expect(found).toEqual([
      { name: 'a', kills: 1, title: 'x' },
      { name: 'b', kills: -2, title: 'rookie' },
    ]);
  });
});
