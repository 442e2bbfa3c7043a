import { describe, expect, it } from 'vitest';
import { Database, Q } from '#connector/helper/helper.ts';
import { FakeServer, ok } from './fake-server.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function setUp() {
  const server = new FakeServer();
  // Each payload is looked at right after its call.
  server.turn = { atOnce: Number.POSITIVE_INFINITY, end: queueMicrotask };
  server.reply = () => ok({});
  return { server, db: new Database(server) };
}

describe('each method sends its operation and payload', () => {
  const { server, db } = setUp();
  const done = () => {};
  const filter = Q.Eq('id', 7);
  const condition = { field: 'id', op: 'eq', value: 7 };
  const place = { namespace: 'game', table: 'cars' };

  it.each<[string, () => unknown, string, object]>([
    ['Health', () => db.Health(done), 'health', {}],
    ['Describe', () => db.Describe('game', done), 'schema.describe', { namespace: 'game' }],
    ['Flush', () => db.Flush('game', done), 'flush', { namespace: 'game' }],
    ['Sync', () => db.Sync('game', Q.Schema(), done), 'schema.sync', { namespace: 'game', schema: { tables: [] } }],
    [
      'Sync of an object, dry',
      () => db.Sync('game', { tables: [Q.Table('t', [Q.Bool('a')])] }, { dryRun: true }, done),
      'schema.sync',
      { namespace: 'game', dryRun: true, schema: { tables: [{ name: 't', columns: [{ name: 'a', type: 'bool' }] }] } },
    ],
    ['Find', () => db.Find('game', 'cars', done), 'find', place],
    ['Find with no query', () => db.Find('game', 'cars', undefined, done), 'find', place],
    [
      'Find with everything',
      () => db.Find('game', 'cars', { filter, fields: ['id'], sort: Q.Sort('id'), limit: 0, offset: 5 }, done),
      'find',
      { ...place, filter: condition, fields: ['id'], sort: [{ field: 'id', dir: 'asc' }], limit: 0, offset: 5 },
    ],
    [
      'Find with objects and a list to sort by',
      () => db.Find('game', 'cars', { filter: { not: filter }, sort: [Q.Sort('a', 'desc'), { field: 'b' }] }, done),
      'find',
      { ...place, filter: { not: condition }, sort: [{ field: 'a', dir: 'desc' }, { field: 'b' }] },
    ],
    [
      'Find with what is left out as undefined',
      () => db.Find('game', 'cars', { filter: undefined, limit: undefined, sort: undefined }, done),
      'find',
      place,
    ],
    ['Count', () => db.Count('game', 'cars', done), 'count', place],
    ['Count with a filter', () => db.Count('game', 'cars', filter, done), 'count', { ...place, filter: condition }],
    [
      'Update',
      () => db.Update('game', 'cars', { filter, set: Q.Row({ a: 'b' }) }, done),
      'update',
      { ...place, filter: condition, set: { a: 'b' } },
    ],
    [
      'Update of all, at once, with a key',
      () =>
        db.Update('game', 'cars', { all: true, set: { a: null } }, { immediate: true, idempotencyKey: 'k"1' }, done),
      'update',
      { ...place, all: true, set: { a: null }, durability: 'immediate', idempotencyKey: 'k"1' },
    ],
    ['Delete by text', () => db.Delete('game', 'cars', filter, done), 'delete', { ...place, filter: condition }],
    [
      'Delete by an object',
      () => db.Delete('game', 'cars', { or: [filter] }, done),
      'delete',
      { ...place, filter: { or: [condition] } },
    ],
    [
      'Delete by a selection',
      () => db.Delete('game', 'cars', { filter }, done),
      'delete',
      { ...place, filter: condition },
    ],
    [
      'Delete of all, at once',
      () => db.Delete('game', 'cars', { all: true }, { immediate: true }, done),
      'delete',
      { ...place, all: true, durability: 'immediate' },
    ],
    [
      'Insert with a key of its own',
      () => db.Insert('game', 'cars', { a: 1 }, { idempotencyKey: 'mine' }, done),
      'insert',
      { ...place, rows: [{ a: 1 }], idempotencyKey: 'mine' },
    ],
    [
      'Describe of a part',
      () => db.Describe('game', 'garage', done),
      'schema.describe',
      { namespace: 'game', part: 'garage' },
    ],
    [
      'Extend',
      () => db.Extend('game', 'garage', Q.Schema(), { dryRun: true }, done),
      'schema.extend',
      { namespace: 'game', part: 'garage', dryRun: true, schema: { tables: [] } },
    ],
    [
      'Upsert that counts',
      () => db.Upsert('game', 'cars', { id: 1 }, ['id'], { update: [], inc: { n: 1n }, idempotencyKey: 'k' }, done),
      'upsert',
      { ...place, row: { id: 1 }, keys: ['id'], update: [], inc: { n: 1 }, idempotencyKey: 'k' },
    ],
    [
      'Aggregate',
      () =>
        db.Aggregate(
          'game',
          'cars',
          { filter, groupBy: 'model', values: [Q.CountRows('n'), Q.Sum('price', 'total')], sort: Q.Sort('n', 'desc') },
          done,
        ),
      'aggregate',
      {
        ...place,
        filter: condition,
        groupBy: ['model'],
        values: [
          { as: 'n', fn: 'count' },
          { as: 'total', fn: 'sum', field: 'price' },
        ],
        sort: [{ field: 'n', dir: 'desc' }],
      },
    ],
    [
      'Aggregate of one value as an object',
      () => db.Aggregate('game', 'cars', { groupBy: ['a', 'b'], values: { as: 'n', fn: 'max', field: 'c' } }, done),
      'aggregate',
      { ...place, groupBy: ['a', 'b'], values: [{ as: 'n', fn: 'max', field: 'c' }] },
    ],
    [
      'Batch',
      () =>
        db.Batch(
          'game',
          [
            Q.Op.Insert('cars', { a: 1 }),
            Q.Op.Update('cars', { filter, inc: { n: 1 } }, { expect: 1 }),
            Q.Op.Upsert('cars', { id: 1, owner: Q.Result(0) }, ['id'], { update: ['owner'], inc: { n: 2 } }),
            Q.Op.Delete('cars', filter, { expect: { affected: 0 } }),
            { op: 'insert', table: 'cars', rows: [Q.Row({ a: 2 })] },
            { op: 'update', table: 'cars', all: true, set: { a: 3 }, expect: 2 },
            { op: 'upsert', table: 'cars', row: { id: 1 }, keys: ['id'] },
            { op: 'delete', table: 'cars', filter: { not: filter } },
          ],
          { atomic: true, immediate: true, idempotencyKey: 'k' },
          done,
        ),
      'batch',
      {
        namespace: 'game',
        operations: [
          { op: 'insert', table: 'cars', rows: [{ a: 1 }] },
          { op: 'update', table: 'cars', filter: condition, inc: { n: 1 }, expect: { affected: 1 } },
          {
            op: 'upsert',
            table: 'cars',
            row: { id: 1, owner: { $result: [0, 0] } },
            keys: ['id'],
            update: ['owner'],
            inc: { n: 2 },
          },
          { op: 'delete', table: 'cars', filter: condition, expect: { affected: 0 } },
          { op: 'insert', table: 'cars', rows: [{ a: 2 }] },
          { op: 'update', table: 'cars', all: true, set: { a: 3 }, expect: { affected: 2 } },
          { op: 'upsert', table: 'cars', row: { id: 1 }, keys: ['id'] },
          { op: 'delete', table: 'cars', filter: { not: condition } },
        ],
        atomic: true,
        durability: 'immediate',
        idempotencyKey: 'k',
      },
    ],
    [
      'Call with an object',
      () => db.Call('count', { ...place, filter: condition }, done),
      'count',
      { ...place, filter: condition },
    ],
    ['Call with text', () => db.Call('batch', '{"operations":[]}', done), 'batch', { operations: [] }],
  ])('%s', (_name, call, operation, payload) => {
    expect(call()).toMatchObject({ Accepted: true });
    expect(server.last.operation).toBe(operation);
    expect(server.last.payload).toEqual(payload);
  });
});

describe('what must not happen twice', () => {
  it('gets a key of its own: Batch, and Update where it adds', () => {
    const { server, db } = setUp();
    db.Batch('game', [Q.Op.Delete('cars', Q.Eq('id', 1))], () => {});
    expect(server.last.payload.idempotencyKey).toMatch(UUID);
    db.Update('game', 'cars', { filter: Q.Eq('id', 1), inc: { n: 1 } }, () => {});
    expect(server.last.payload.idempotencyKey).toMatch(UUID);
    db.Update('game', 'cars', { filter: Q.Eq('id', 1), set: { n: 1 } }, () => {});
    expect(server.last.payload).not.toHaveProperty('idempotencyKey');
  });
});

describe('Insert and Upsert', () => {
  it('add a key of their own, another one each time', () => {
    const { server, db } = setUp();
    db.Insert('game', 'cars', { a: 1 }, () => {});
    db.Insert('game', 'cars', { a: 1 }, { immediate: true }, () => {});
    db.Upsert('game', 'cars', { id: 1 }, ['id'], () => {});
    const keys = server.calls.map(({ payload }) => payload.idempotencyKey);
    for (const key of keys) expect(key).toMatch(UUID);
    expect(new Set(keys).size).toBe(3);
    expect(server.calls[1]?.payload).toMatchObject({ durability: 'immediate', rows: [{ a: 1 }] });
    expect(server.calls[2]?.payload).toMatchObject({ row: { id: 1 }, keys: ['id'] });
  });

  it('take rows as text, objects, a list of both, and text of a list', () => {
    const { server, db } = setUp();
    for (const rows of [Q.Row({ n: 1n }), [{ n: 1 }], [Q.Row({ n: 1 })], '[{"n":1}]', ' [ {"n":1} ]']) {
      db.Insert('game', 'cars', rows, () => {});
      expect(server.last.payload.rows).toEqual([{ n: 1 }]);
    }
    db.Insert('game', 'cars', [{ n: 1 }, Q.Row({ n: 2 })], () => {});
    expect(server.last.payload.rows).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('keep every digit on the way', () => {
    const { server, db } = setUp();
    db.Upsert('game', 'cars', { id: 9_007_199_254_740_993n, price: Q.Number('0.10') }, ['id'], () => {});
    expect(server.last.text).toContain('"row":{"id":9007199254740993,"price":0.10}');
  });
});

describe('what a mistake in the script leads to', () => {
  it.each<[string, (db: Database) => unknown]>([
    ['a filter that is no JSON', (db) => db.Delete('game', 'cars', 'id = 1', () => {})],
    ['text that leaves its place', (db) => db.Delete('game', 'cars', '{"not":{}},"all":true', () => {})],
    ['rows that are none', (db) => db.Insert('game', 'cars', 5 as never, () => {})],
    ['a query that is none', (db) => db.Find('game', 'cars', 'id' as never, () => {})],
    ['options that are none', (db) => db.Update('game', 'cars', { set: {} }, true as never, () => {})],
    ['a table without a name', (db) => db.Find('game', undefined as never, {}, () => {})],
    ['a batch that is no list', (db) => db.Batch('game', {} as never, () => {})],
    ['an operation that is none', (db) => db.Batch('game', [{ op: 'find', table: 'cars' } as never], () => {})],
    ['values that are none', (db) => db.Aggregate('game', 'cars', { values: 'sum' as never }, () => {})],
    ['a schema that is none', (db) => db.Sync('game', undefined as never, () => {})],
  ])('%s: nothing is sent, and the ticket says why', (_name, call) => {
    const { server, db } = setUp();
    expect(call(db)).toMatchObject({ Accepted: false, Error: expect.stringMatching(/^invalid_request: /) });
    expect(server.calls).toEqual([]);
  });

  it('an empty or missing selection never means all', () => {
    const { server, db } = setUp();
    db.Delete('game', 'cars', {}, () => {});
    expect(server.last.payload).toEqual({ namespace: 'game', table: 'cars', filter: {} });
    db.Delete('game', 'cars', undefined as never, () => {});
    expect(server.last.payload).toEqual({ namespace: 'game', table: 'cars' });
    db.Update('game', 'cars', { filter: undefined, set: { a: 1 } }, () => {});
    expect(server.last.payload).toEqual({ namespace: 'game', table: 'cars', set: { a: 1 } });
  });
});
