import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, type DbResult, Q } from '#connector/helper/helper.ts';
import { HelperRig } from '../support/helper-rig.ts';
import { useSidecar } from './data-world.ts';

const world = useSidecar({ config: { writeBehind: { namespaces: { stats: {} } } } });
let rig: HelperRig;
let db: Database;

beforeAll(async () => {
  rig = new HelperRig(world.sidecar);
  db = rig.db;
  ok(await db.async.Ready());
  ok(await db.async.Sync('game', SCHEMA));
});

afterAll(() => rig?.stop());

function ok<R extends DbResult>(result: R): R {
  if (result.State !== 'ok') throw new Error(db.ErrorMessage(result));
  return result;
}

const SCHEMA = Q.Schema(
  Q.Table(
    'people',
    [
      Q.Int64('id', { autoIncrement: true }),
      Q.Text('name', { length: 40 }),
      Q.Decimal('money', { precision: 30, scale: 2, default: 0 }),
      Q.Json('data', { nullable: true }),
      Q.Text('job', { default: 'none', oneOf: ['none', 'police'] }),
      Q.Int32('visits', { default: 0 }),
      Q.DateTime('changed_at', { default: '2000-01-01T00:00:00.000Z', onUpdate: 'now' }),
      Q.Derived('search_name', 'string', { from: 'name', fold: true, length: 40 }),
      Q.Derived('gang', 'string', { from: 'data', path: ['gang', 0], length: 20 }),
    ],
    { primaryKey: ['id'], indexes: [Q.Index('by_gang', ['gang'])] },
  ),
  Q.Table('cars', [Q.Int64('id', { autoIncrement: true }), Q.Int64('owner_id'), Q.Text('plate', { unique: true })], {
    primaryKey: ['id'],
  }),
);

const found = async (filter: string, fields: string[]) =>
  db.Rows(ok(await db.async.Find('game', 'people', { filter, fields, sort: Q.Sort('id') })));

describe('Batch', () => {
  it('of which each write is for itself tells of each', async () => {
    const result = ok(
      await db.async.Batch(
        'game',
        [
          Q.Op.Insert('people', [{ name: 'Ann' }, { name: 'Bob' }]),
          Q.Op.Insert('cars', { owner_id: 1, plate: 'A' }),
          Q.Op.Insert('cars', { owner_id: 2, plate: 'A' }),
          Q.Op.Update('people', { filter: Q.Eq('name', 'Ann'), inc: { money: Q.Number('0.50') } }),
          Q.Op.Upsert('cars', { owner_id: 3, plate: 'A' }, ['plate']),
          Q.Op.Delete('people', Q.Eq('name', 'Bob')),
        ],
        { atomic: false },
      ),
    );
    const results = db.Results(result);
    expect(results.map(({ Code }) => Code)).toEqual(['', '', 'constraint_violation', '', '', '']);
    expect(results.map((one) => db.Number(one))).toEqual([2, 1, 0, 1, 1, 1]);
    const [ann, bob, ...others] = db.InsertedIds<number>(results[0] as DbResult);
    expect([Number(bob) > Number(ann), others]).toEqual([true, []]);
    expect(db.ErrorMessage(results[2] as DbResult)).toMatch(/^constraint_violation: ./);
    expect(await found(Q.Gte('id', 0), ['id', 'name', 'money'])).toEqual([{ id: ann, name: 'Ann', money: 0.5 }]);
  });

  it('as a whole is done or undone, and says at which write; without transactions it is refused', async () => {
    const { capabilities } = JSON.parse(ok(await db.async.Health()).Json);
    const moves = (plate: string) => [
      Q.Op.Insert('people', { name: 'Cid' }),
      Q.Op.Insert('cars', { owner_id: Q.Result(0), plate }),
      Q.Op.Update('people', { filter: Q.Eq('name', 'Cid'), set: { job: 'police' } }, { expect: 1 }),
    ];
    const done = await db.async.Batch('game', moves('C'));
    expect(done.Code).toBe(capabilities.transactions ? '' : 'unsupported_operation');
    expect(db.Results(done)).toHaveLength(capabilities.transactions ? 3 : 0);
    const twice = await db.async.Batch('game', moves('D'));
    expect(twice.Code).toBe(capabilities.transactions ? 'expectation_failed' : 'unsupported_operation');
    expect(db.FailedIndex(twice)).toBe(capabilities.transactions ? 2 : undefined);
    const cars = db.Rows(ok(await db.async.Find('game', 'cars', { filter: Q.In('plate', ['C', 'D']) })));
    const people = await found(Q.Eq('name', 'Cid'), ['id', 'job']);
    expect(people.map(({ job }) => job)).toEqual(capabilities.transactions ? ['police'] : []);
    expect(cars.map(({ owner_id }) => owner_id)).toEqual(people.map(({ id }) => id));
  });
});

describe('what the schema does by itself', () => {
  it('derived columns are found by, times of a change are noted, other values than those listed are refused', async () => {
    const before = Q.Now(-60);
    const row = { name: ' Zoë O’Brien ', data: { gang: ['vagos'] }, job: 'police' };
    ok(await db.async.Insert('game', 'people', row));
    expect(await found(Q.Contains('search_name', 'ZOE o'), ['name', 'gang'])).toEqual([
      { name: row.name, gang: 'vagos' },
    ]);
    expect(await found(Q.Gt('changed_at', before), ['name'])).not.toContainEqual({ name: row.name });
    ok(await db.async.Update('game', 'people', { filter: Q.Eq('gang', 'vagos'), set: { data: { gang: [] } } }));
    const [changed] = await found(Q.Eq('name', row.name), ['gang', 'changed_at']);
    expect(changed?.gang).toBeNull();
    expect(String(changed?.changed_at) > before).toBe(true);
    expect(await db.async.Insert('game', 'people', { name: 'x', job: 'pilot' })).toMatchObject({
      Code: 'invalid_value',
    });
    expect(await db.async.Insert('game', 'people', { name: 'x', gang: 'y' })).toMatchObject({ Code: 'invalid_value' });
  });

  it('a part of another bundle adds to it, and goes away again', async () => {
    const part = Q.Schema(
      Q.Table('cars', [Q.Text('colour', { nullable: true })]),
      Q.Table('garages', [Q.Int32('id')], { primaryKey: ['id'] }),
    );
    ok(await db.async.Extend('game', 'garage', part));
    ok(await db.async.Insert('game', 'cars', { owner_id: 1, plate: 'P', colour: 'red' }));
    const described = JSON.parse(ok(await db.async.Describe('game', 'garage')).Json);
    expect(described.schema.tables.map(({ name }: { name: string }) => name).toSorted()).toEqual(['cars', 'garages']);
    ok(await db.async.Extend('game', 'garage', Q.Schema()));
    expect(await db.async.Count('game', 'garages')).toMatchObject({ Code: 'unknown_table' });
  });
});

describe('Upsert', () => {
  it('counts up or begins, sets only what is named, and inserts only where nothing is', async () => {
    const visit = () =>
      db.async.Upsert('game', 'cars', { plate: 'U', owner_id: 5 }, ['plate'], { inc: { owner_id: 1 }, update: [] });
    ok(await visit());
    ok(await visit());
    const owner = { filter: Q.Eq('plate', 'U') };
    expect(ok(await db.async.Value('game', 'cars', 'owner_id', owner)).Value).toBe(7);
    expect(
      db.Number(ok(await db.async.Upsert('game', 'cars', { plate: 'U', owner_id: 1 }, ['plate'], { update: [] }))),
    ).toBe(0);
    expect(ok(await db.async.Value('game', 'cars', 'owner_id', owner)).Value).toBe(7);
    ok(await db.async.Upsert('game', 'cars', { plate: 'U', owner_id: 9 }, ['plate'], { update: ['owner_id'] }));
    expect(ok(await db.async.Value('game', 'cars', 'owner_id', owner)).Value).toBe(9);
  });
});

describe('Aggregate', () => {
  it('counts and adds up by group, to the last digit', async () => {
    ok(await db.async.Delete('game', 'people', Q.Gte('id', 0)));
    const dear = '9999999999999999999999999999.99';
    const rows = [
      { name: 'a', job: 'police', money: dear },
      { name: 'b', job: 'police', money: dear },
      { name: 'c', money: '0.10' },
    ];
    ok(await db.async.Insert('game', 'people', rows));
    const values = [
      Q.CountRows('people'),
      Q.Sum('money', 'total'),
      Q.CountDistinct('money', 'kinds'),
      Q.Max('name', 'last'),
    ];
    const sums = await db.async.Aggregate('game', 'people', { groupBy: 'job', values, sort: Q.Sort('people', 'desc') });
    expect(db.Rows(ok(sums))).toEqual([
      { job: 'police', people: 2, total: '19999999999999999999999999999.98', kinds: 1, last: 'b' },
      { job: 'none', people: 1, total: 0.1, kinds: 1, last: 'c' },
    ]);
    const none = await db.async.Aggregate('game', 'people', {
      filter: Q.Eq('id', -1),
      values: Q.Sum('money', 'total'),
    });
    expect(db.Rows(ok(none))).toEqual([{ total: null }]);
  });
});

describe('Q.Now', () => {
  it('is the moment of the sidecar', async () => {
    const { time } = JSON.parse(ok(await db.async.Health()).Json) as { time?: number };
    const away = Math.abs(Date.parse(Q.Now()) - (time === undefined ? Date.now() : time * 1000));
    expect(away).toBeLessThan(60_000);
  });
});

describe('a buffered namespace', () => {
  it('takes lists of any length as queued', async () => {
    ok(await db.async.Sync('stats', Q.Schema(Q.Table('saves', [Q.Int32('id'), Q.Int32('n')], { primaryKey: ['id'] }))));
    const rows = Array.from({ length: 1500 }, (_, id) => ({ id, n: 0 }));
    const inserted = ok(await db.async.InsertAll('stats', 'saves', rows));
    expect(inserted).toMatchObject({ Done: 1500, Failed: 0 });
    expect(db.IsQueued(inserted)).toBe(true);
    const all = db.Rows(ok(await db.async.FindAll('stats', 'saves')));
    expect(all.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });
});

describe('Upsert of a list', () => {
  const plates = async () =>
    db.Rows<{ plate: string; owner_id: number }>(
      ok(await db.async.Find('game', 'cars', { filter: Q.StartsWith('plate', 'U-'), sort: Q.Sort('plate') })),
    );
  const owners = async () => (await plates()).map(({ plate, owner_id }) => [plate, owner_id]);

  it('inserts and changes rows in one call, and tells of each', async () => {
    ok(await db.async.Upsert('game', 'cars', { plate: 'U-1', owner_id: 1 }, ['plate']));
    const result = ok(
      await db.async.Upsert(
        'game',
        'cars',
        [{ plate: 'U-1', owner_id: 2 }, Q.Row({ plate: 'U-2', owner_id: 3 })],
        ['plate'],
      ),
    );
    expect(db.Number(result)).toBe(2);
    expect(db.Results(result).map((one) => [one.State, db.Number(one)])).toEqual([
      ['ok', 1],
      ['ok', 1],
    ]);
    expect(JSON.parse(result.Json)).toEqual({ affected: 2, results: [{ affected: 1 }, { affected: 1 }] });
    expect(await owners()).toEqual([
      ['U-1', 2],
      ['U-2', 3],
    ]);
  });

  it('adds exactly once under its key, by promise and by callback', async () => {
    const rows = [
      { plate: 'U-3', owner_id: 5 },
      { plate: 'U-4', owner_id: 6 },
    ];
    const options = { update: [], inc: { owner_id: 10 }, idempotencyKey: 'upsert-list' };
    ok(await db.async.Upsert('game', 'cars', rows, ['plate'], options));
    const before = await owners();
    const again = await new Promise<DbResult>((resolve) =>
      db.Upsert('game', 'cars', rows, ['plate'], options, (result) => resolve(result)),
    );
    expect([again.State, db.Number(again)]).toEqual(['ok', 2]);
    expect(await owners()).toEqual(before);
    ok(await db.async.Upsert('game', 'cars', rows, ['plate'], { ...options, idempotencyKey: 'another' }));
    expect((await owners()).slice(2)).toEqual([
      ['U-3', 25],
      ['U-4', 26],
    ]);
  });

  it('of which a row fails is an error with its index: nothing is done, or without transactions the others are', async () => {
    const { capabilities } = JSON.parse(ok(await db.async.Health()).Json);
    const before = await owners();
    const clash = await db.async.Upsert(
      'game',
      'cars',
      [
        { id: 90_001, plate: 'U-5', owner_id: 7 },
        { id: 90_002, plate: 'U-1', owner_id: 7 },
        { id: 90_003, plate: 'U-6', owner_id: 7 },
      ],
      ['id'],
    );
    expect([clash.State, clash.Code, db.FailedIndex(clash)]).toEqual(['error', 'constraint_violation', 1]);
    expect(db.Number(clash)).toBe(0);
    const written = [
      ['U-5', 7],
      ['U-6', 7],
    ];
    expect((await owners()).slice(before.length)).toEqual(capabilities.transactions ? [] : written);
    if (!capabilities.transactions) expect(db.ErrorMessage(clash)).toContain('(2 of 3 rows are written)');
  });

  it('of nothing is refused, and so is one that holds no row', async () => {
    for (const rows of [[], [5]]) {
      const refused = await db.async.Upsert('game', 'cars', rows as never, ['plate']);
      expect([refused.State, refused.Code]).toEqual(['error', 'invalid_request']);
    }
  });

  it('waits in the queue of a buffered namespace', async () => {
    ok(await db.async.Sync('stats', Q.Schema(Q.Table('hits', [Q.Int32('id'), Q.Int32('n')], { primaryKey: ['id'] }))));
    const rows = [
      { id: 1, n: 1 },
      { id: 2, n: 2 },
    ];
    const queued = ok(await db.async.Upsert('stats', 'hits', rows, ['id']));
    expect(db.IsQueued(queued)).toBe(true);
    expect(db.Rows(ok(await db.async.Find('stats', 'hits', { sort: Q.Sort('id') })))).toEqual(rows);
  });
});
