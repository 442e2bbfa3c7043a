import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, type DbResult, type DbRow, Q } from '#connector/helper/helper.ts';
import { HelperRig } from '../support/helper-rig.ts';
import { useSidecar } from './data-world.ts';

const world = useSidecar({ config: { limits: { maxRows: 3, maxInsertRows: 4 } } });
let rig: HelperRig;
let db: Database;

beforeAll(async () => {
  rig = new HelperRig(world.sidecar);
  db = rig.db;
  ok(await db.async.Ready());
  ok(await db.async.Sync('game', SCHEMA));
  ok(await db.async.InsertAll('game', 'cars', CARS));
  ok(await db.async.InsertAll('game', 'seats', SEATS));
  ok(await db.async.InsertAll('game', 'notes', NOTES));
});

afterAll(() => rig?.stop());

function ok<R extends DbResult>(result: R): R {
  if (result.State !== 'ok') throw new Error(db.ErrorMessage(result));
  return result;
}

const SCHEMA = Q.Schema(
  Q.Table(
    'cars',
    [
      Q.Int64('id'),
      Q.Text('model', { length: 20, nullable: true }),
      Q.Decimal('price', { precision: 30, scale: 10, nullable: true }),
      Q.Bool('sold', { nullable: true }),
      Q.DateTime('built', { nullable: true }),
      Q.Int64('serial', { nullable: true }),
      Q.Double('fuel'),
    ],
    { primaryKey: ['id'] },
  ),
  Q.Table('seats', [Q.Text('row', { length: 4 }), Q.Int32('place'), Q.Int64('car', { nullable: true })], {
    primaryKey: ['row', 'place'],
  }),
  // No key: rows in the order of insertion, some of them alike.
  Q.Table('notes', [Q.Text('body'), Q.Int32('level')]),
);

const pick = <T>(values: readonly T[], index: number): T => values[index % values.length] as T;

const CARS = Array.from({ length: 22 }, (_, index) => ({
  id: 100 - index * 3,
  model: pick([null, 'sultan', 'Sultan', 'été', '', 'faggio '], index),
  price: pick([null, '12345678901234567890.0000000001', '0.1', '-7', '12345678901234567890'], index),
  sold: pick([true, null, false, true], index),
  built: pick([null, '2020-01-31T12:00:00.123Z', '1999-12-31T23:59:59.999Z'], index),
  serial: pick([9_007_199_254_740_993n, null, 9_007_199_254_740_992n, -1n], index),
  fuel: pick([0.30000000000000004, 0.3, 1e300, -5], index),
}));
const SEATS = Array.from({ length: 14 }, (_, index) => ({
  row: pick(['b', 'a', 'c'], index),
  place: index,
  car: pick([100, null, 97, 91], index),
}));
const NOTES = Array.from({ length: 11 }, (_, index) => ({
  body: pick(['same', 'other', 'same'], index),
  level: index % 2,
}));

/** Contract section 4: NULL first ascending; texts by their bytes, numbers and decimals exactly. */
function compare(left: unknown, right: unknown): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (typeof left === 'string' && typeof right === 'string' && !/^-?\d/.test(left)) {
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  const [a, b] = [scaled(left), scaled(right)];
  return a < b ? -1 : Number(a > b);
}

function scaled(value: unknown): bigint | number | string {
  if (typeof value === 'number' || typeof value === 'boolean') return Number(value);
  const digits = /^(-?\d+)(?:\.(\d+))?$/.exec(String(value));
  return digits === null ? String(value) : BigInt(`${digits[1]}${(digits[2] ?? '').padEnd(10, '0')}`);
}

const COLUMNS = ['model', 'price', 'sold', 'built', 'serial', 'fuel'] as const;
const anyOrder = fc.uniqueArray(
  fc.record({ field: fc.constantFrom(...COLUMNS), dir: fc.constantFrom('asc' as const, 'desc' as const) }),
  { selector: ({ field }) => field, maxLength: 3 },
);

describe('FindAll', () => {
  it('gives all rows once, in any order that Find knows, through pages of three', async () => {
    await fc.assert(
      fc.asyncProperty(anyOrder, fc.boolean(), fc.boolean(), async (sort, isCheapOnly, isNarrow) => {
        const query = {
          sort: sort.map(({ field, dir }) => Q.Sort(field, dir)),
          filter: isCheapOnly ? Q.Gt('id', 60) : undefined,
          fields: isNarrow ? (['model', 'id'] as const) : undefined,
        };
        const found = db.Rows<DbRow>(ok(await db.async.FindAll('game', 'cars', query)));
        const expected = CARS.filter(({ id }) => !isCheapOnly || id > 60).toSorted((left, right) => {
          for (const { field, dir } of sort) {
            const order = compare(left[field], right[field]) * (dir === 'asc' ? 1 : -1);
            if (order !== 0) return order;
          }
          return left.id - right.id;
        });
        expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        if (isNarrow) expect(new Set(found.flatMap(Object.keys))).toEqual(new Set(['model', 'id']));
      }),
      { numRuns: 12 },
    );
  });

  it('goes by a key of several columns, and hides those that were not asked for', async () => {
    const all = ok(await db.async.FindAll('game', 'seats', { fields: ['car'], filter: Q.Gte('place', 2) }));
    const expected = SEATS.filter(({ place }) => place >= 2)
      .toSorted((left, right) => compare(left.row, right.row) || left.place - right.place)
      .map(({ car }) => ({ car }));
    expect(db.Rows(all)).toEqual(expected);
    expect(db.HasMore(all)).toBe(false);
    expect(JSON.parse(all.Json)).toEqual({ rows: expected, hasMore: false });
  });

  it('reads a table without a key in the order of insertion', async () => {
    expect(db.Rows(ok(await db.async.FindAll('game', 'notes')))).toEqual(NOTES);
  });

  it('says that rows without a key came or went meanwhile, and gives no half truth', async () => {
    ok(await db.async.Sync('stats', Q.Schema(Q.Table('logs', [Q.Int32('n')]))));
    ok(
      await db.async.InsertAll(
        'stats',
        'logs',
        Array.from({ length: 9 }, (_, n) => ({ n })),
      ),
    );
    const seen: unknown[] = [];
    const walk = async () => {
      for await (const { n } of db.async.FindEach('stats', 'logs')) {
        seen.push(n);
        if (seen.length === 3) ok(await db.async.Delete('stats', 'logs', Q.Lte('n', 1)));
      }
    };
    await expect(walk()).rejects.toThrow(/^conflict_retry: .*no primary key/);
    expect(seen).toEqual([0, 1, 2]);
  });

  it('goes on after a row without a key that the script has changed meanwhile', async () => {
    ok(await db.async.Sync('stats', Q.Schema(Q.Table('bags', [Q.Json('items')]))));
    const bags = Array.from({ length: 7 }, (_, n) => ({ items: { n, list: [n] } }));
    ok(await db.async.InsertAll('stats', 'bags', bags));
    const seen: unknown[] = [];
    for await (const { items } of db.async.FindEach('stats', 'bags')) {
      const bag = items as { n: number; list: number[] };
      seen.push(bag.n);
      bag.list.push(bag.n);
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('misses nothing and repeats nothing by key while rows before and after come and go', async () => {
    ok(await db.async.Sync('stats', Q.Schema(Q.Table('keyed', [Q.Int32('n')], { primaryKey: ['n'] }))));
    ok(
      await db.async.InsertAll(
        'stats',
        'keyed',
        Array.from({ length: 9 }, (_, n) => ({ n: n * 10 })),
      ),
    );
    const seen: unknown[] = [];
    for await (const { n } of db.async.FindEach('stats', 'keyed')) {
      seen.push(n);
      if (n === 20) {
        ok(await db.async.Delete('stats', 'keyed', Q.Lte('n', 10)));
        ok(await db.async.Insert('stats', 'keyed', [{ n: 5 }, { n: 75 }]));
      }
    }
    expect(seen).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 75, 80]);
  });

  it('is bounded, and says what to do', async () => {
    expect(db.Rows(ok(await db.async.FindAll('game', 'cars', { max: 22 })))).toHaveLength(22);
    const result = await db.async.FindAll('game', 'cars', { max: 21 });
    expect(result).toMatchObject({ State: 'error', Status: 0, Code: 'too_many_rows' });
    expect(db.ErrorMessage(result)).toMatch(/cars.*21.*max.*FindEach/);
    expect(db.Rows(result)).toEqual([]);
  });

  it('passes on what the sidecar refuses, and refuses what makes no sense', async () => {
    expect(await db.async.FindAll('game', 'cars', { filter: Q.Eq('colour', 1) })).toMatchObject({
      Code: 'unknown_column',
    });
    expect(await db.async.FindAll('game', 'boats')).toMatchObject({ Code: 'unknown_table' });
    const limited = await db.async.FindAll('game', 'cars', { limit: 5 } as never);
    expect(limited).toMatchObject({ Code: 'invalid_request' });
    expect(db.ErrorMessage(limited)).toContain('max');
  });

  it('comes by callback too', async () => {
    const rows = await new Promise<DbRow[]>((resolve) => {
      expect(db.FindAll('game', 'notes', (result) => resolve(db.Rows(result)))).toMatchObject({ Accepted: true });
    });
    expect(rows).toHaveLength(11);
  });
});

describe('First and Value', () => {
  it('give one row and one value, and null where there is none', async () => {
    const { Row } = ok(await db.async.First('game', 'cars', { filter: Q.Eq('id', 97), fields: ['id', 'model'] }));
    expect(Row).toEqual({ id: 97, model: 'sultan' });
    expect(ok(await db.async.First('game', 'cars', { filter: Q.Eq('id', 1) })).Row).toBeNull();
    const dearest = ok(await db.async.Value('game', 'cars', 'price', { sort: Q.Sort('price', 'desc') }));
    expect(dearest.Value).toBe('12345678901234567890.0000000001');
    expect(ok(await db.async.Value('game', 'cars', 'serial', { filter: Q.Eq('id', 100) })).Value).toBe(
      9_007_199_254_740_993n,
    );
    expect(ok(await db.async.Value('game', 'cars', 'model', { filter: Q.Eq('id', 100) })).Value).toBeNull();
    const failed = await db.async.Value('game', 'cars', 'colour');
    expect(failed).toMatchObject({ State: 'error', Code: 'unknown_column', Value: null });
  });
});

describe('FindWith', () => {
  it('puts together what belongs together, one and many, in order, past the limit of a page', async () => {
    const found = ok(
      await db.async.FindWith('game', 'cars', { fields: ['model'], sort: Q.Sort('id', 'desc') }, [
        {
          as: 'seats',
          table: 'seats',
          from: 'id',
          to: 'car',
          many: true,
          fields: ['place'],
          sort: Q.Sort('place', 'desc'),
        },
        { as: 'front', table: 'seats', from: 'id', to: 'car', filter: Q.Lt('place', 2) },
      ]),
    );
    const places = (car: number) =>
      SEATS.filter((seat) => seat.car === car)
        .map(({ place }) => ({ place }))
        .toSorted((left, right) => right.place - left.place);
    expect(db.Rows(found)).toEqual(
      [
        { model: null, seats: places(100), front: SEATS[0] },
        { model: 'sultan', seats: [], front: null },
        { model: 'Sultan', seats: [], front: null },
      ].map((row, index) => (index === 1 ? { ...row, seats: places(97) } : row)),
    );
    expect(db.HasMore(found)).toBe(true);
  });

  it('asks nothing of the other table where no row has a value, and passes failures on', async () => {
    const relation = { as: 'owner', table: 'nobody', from: 'car', to: 'id' } as const;
    const none = ok(await db.async.FindWith('game', 'seats', { filter: Q.IsNull('car'), limit: 2 }, relation));
    expect(db.Rows(none).map(({ owner }) => owner)).toEqual([null, null]);
    expect(await db.async.FindWith('game', 'seats', { filter: Q.IsNull('car', false) }, relation)).toMatchObject({
      Code: 'unknown_table',
    });
    expect(await db.async.FindWith('game', 'seats', {}, { as: 'x' } as never)).toMatchObject({
      Code: 'invalid_request',
    });
  });
});

describe('InsertAll', () => {
  const table = Q.Schema(
    Q.Table('parts', [Q.Int64('id', { autoIncrement: true }), Q.Int32('n', { unique: true }), Q.LongText('body')], {
      primaryKey: ['id'],
    }),
  );

  it('splits by rows and by size, and puts the ids together in order', async () => {
    ok(await db.async.Sync('stats', table));
    const rows = Array.from({ length: 11 }, (_, n) => ({ n, body: 'x'.repeat(n < 2 ? 600_000 : 5) }));
    const result = ok(await db.async.InsertAll('stats', 'parts', rows));
    expect(result).toMatchObject({ Done: 11, Failed: 0 });
    expect(db.Number(result)).toBe(11);
    expect(db.InsertedIds(result)).toEqual(rows.map((_, index) => index + 1));
  });

  it('tells how far it came, and goes on from there with the same key: nothing is there twice', async () => {
    ok(await db.async.Sync('stats', table));
    ok(await db.async.Delete('stats', 'parts', Q.Gte('n', 0)));
    ok(await db.async.Insert('stats', 'parts', { n: 6, body: 'in the way' }));
    const rows = Array.from({ length: 10 }, (_, n) => ({ n, body: '' }));
    const options = { idempotencyKey: 'once' };
    const failed = await db.async.InsertAll('stats', 'parts', rows, options);
    expect(failed).toMatchObject({ State: 'error', Code: 'constraint_violation' });
    expect(failed.Done).toBeGreaterThan(0);
    expect(failed.Done + failed.Failed).toBeGreaterThan(6);
    ok(await db.async.Delete('stats', 'parts', Q.Or(Q.Eq('body', 'in the way'), Q.Gte('n', failed.Done))));
    expect(ok(await db.async.InsertAll('stats', 'parts', rows, options))).toMatchObject({ Done: 10 });
    expect(db.Number(ok(await db.async.Count('stats', 'parts')))).toBe(10);
  });

  it('of nothing does nothing', async () => {
    expect(ok(await db.async.InsertAll('stats', 'parts', []))).toMatchObject({ Done: 0, Failed: 0 });
    expect(await db.async.InsertAll('stats', 'parts', [5 as never])).toMatchObject({
      Code: 'invalid_request',
      Done: 0,
    });
  });
});

describe('six hundred calls at once', () => {
  it('all arrive', async () => {
    ok(await db.async.Sync('stats', Q.Schema(Q.Table('saves', [Q.Int32('id'), Q.Int32('n')], { primaryKey: ['id'] }))));
    const saves = await Promise.all(
      Array.from({ length: 600 }, (_, id) => db.async.Upsert('stats', 'saves', { id, n: 1 }, ['id'])),
    );
    for (const save of saves) ok(save);
    expect(db.Number(ok(await db.async.Count('stats', 'saves')))).toBe(600);
  });
});

describe('Capped', () => {
  const few = Q.In('id', [100, 97]);

  it.each<[string, { limit?: number; filter?: string }, boolean]>([
    ['no limit', {}, false],
    ['a limit below the cap', { limit: 2 }, false],
    ['the cap as limit', { limit: 3 }, false],
    ['a limit above the cap', { limit: 10 }, true],
    ['a limit above the cap, and fewer rows than the cap', { limit: 10, filter: few }, false],
  ])('with %s', async (_what, query, isCapped) => {
    const found = ok(await db.async.Find('game', 'cars', query));
    expect(found.Capped).toBe(isCapped);
    expect(db.Rows(found)).toHaveLength(query.filter === few ? 2 : Math.min(query.limit ?? 3, 3));
    expect(await new Promise((resolve) => db.Find('game', 'cars', query, ({ Capped }) => resolve(Capped)))).toBe(
      isCapped,
    );
    const sums = ok(await db.async.Aggregate('game', 'cars', { ...query, groupBy: 'id' }));
    expect(sums.Capped).toBe(isCapped);
    const relation = { as: 'seats', table: 'seats', from: 'id', to: 'car' };
    expect(ok(await db.async.FindWith('game', 'cars', query, relation)).Capped).toBe(isCapped);
  });

  it('is false after an error', async () => {
    const failed = await db.async.Find('game', 'nothing', { limit: 10 });
    expect(failed).toMatchObject({ State: 'error', Capped: false });
    expect(db.ErrorMessage(failed)).toContain('unknown_table');
  });
});
