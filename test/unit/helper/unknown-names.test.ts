import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, type DbResult, Q } from '#connector/helper/helper.ts';
import { FakeServer, ok } from './fake-server.ts';

const row = { id: 1 };
const relation = { as: 'cars', table: 'cars', from: 'id', to: 'owner_id' };

function setUp() {
  const server = new FakeServer();
  server.reply = () => ok({ rows: [{ id: 1 }], hasMore: false });
  return { server, db: new Database(server) };
}

type Method = Exclude<keyof Database['async'], 'FindEach' | 'Ready' | 'Health'>;

/** Method, its arguments, what the message names, the name that it proposes. */
const MISTAKES: readonly [Method, unknown[], string, string][] = [
  ['Sync', ['game', { tables: [] }, { dryrun: true }], 'options.dryrun', 'dryRun'],
  ['Sync', ['game', { table: [], tables: [] }], 'schema.table', 'tables'],
  ['Extend', ['game', 'part', { tables: [] }, { dry: true }], 'options.dry', 'Known names: dryRun'],
  ['Insert', ['game', 'cars', row, { idempotencykey: 'a' }], 'options.idempotencykey', 'idempotencyKey'],
  ['InsertAll', ['game', 'cars', [row], { imediate: true }], 'options.imediate', 'immediate'],
  ['Find', ['game', 'cars', { Limit: 5 }], 'query.Limit', 'limit'],
  ['Find', ['game', 'cars', { filter: { feild: 'id', op: 'eq', value: 1 } }], 'filter.feild', 'field'],
  ['Find', ['game', 'cars', { filter: { and: [{ fields: 'id', op: 'eq', value: 1 }] } }], 'and[0].fields', 'field'],
  ['Find', ['game', 'cars', { sort: { field: 'id', dri: 'desc' } }], 'sort.dri', 'dir'],
  ['First', ['game', 'cars', { where: Q.Eq('id', 7) }], 'query.where', 'filter'],
  ['First', ['game', 'cars', { filter: Q.Eq('id', 7), orderBy: Q.Sort('id') }], 'query.orderBy', 'sort'],
  ['Value', ['game', 'cars', 'id', { fliter: Q.Eq('id', 7) }], 'query.fliter', 'filter'],
  ['FindAll', ['game', 'cars', { maximum: 5 }], 'query.maximum', 'Known names: filter, fields, sort, max'],
  ['FindWith', ['game', 'cars', { were: 1 }, relation], 'query.were', 'Known names'],
  ['FindWith', ['game', 'cars', {}, { ...relation, mnay: true }], 'relation 1.mnay', 'many'],
  ['Aggregate', ['game', 'cars', { group: 'id', values: Q.CountRows('n') }], 'query.group', 'groupBy'],
  ['Aggregate', ['game', 'cars', { values: { as: 'n', fn: 'sum', filed: 'id' } }], 'values[0].filed', 'field'],
  ['Count', ['game', 'cars', { filter: Q.Eq('id', 7) }], 'filter.filter', 'Known names: field, op, value'],
  ['Update', ['game', 'cars', { where: Q.Eq('id', 7), set: row }], 'change.where', 'filter'],
  [
    'Update',
    ['game', 'cars', { filter: Q.Eq('id', 7), set: row }, { durability: 'immediate' }],
    'options',
    'immediate',
  ],
  ['Upsert', ['game', 'cars', row, ['id'], { updates: [] }], 'options.updates', 'update'],
  ['Delete', ['game', 'cars', { all: false, fitler: 1 }], 'selection.fitler', 'filter'],
  ['Delete', ['game', 'cars', Q.Eq('id', 1), { key: 'a' }], 'options.key', 'idempotencyKey'],
  ['Batch', ['game', [Q.Op.Insert('cars', row)], { Atomic: false }], 'options.Atomic', 'atomic'],
  ['Batch', ['game', [{ op: 'insert', table: 'cars', row }]], 'operations[0]: insert.row', 'rows'],
  ['Batch', ['game', [{ op: 'delete', table: 'cars', filter: Q.Eq('id', 1), expects: 1 }]], 'expects', 'expect'],
  ['Batch', ['game', [{ op: 'delete', table: 'cars', expect: { effected: 1 } }]], 'effected', 'affected'],
];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(MISTAKES)('%s of %j', (method, given, place, advice) => {
  const problem = (result: DbResult, db: Database) => {
    expect(result).toMatchObject({ Id: '', State: 'error', Status: 0, Code: 'invalid_request' });
    expect(db.ErrorMessage(result)).toContain(place);
    expect(db.ErrorMessage(result)).toContain(advice);
  };

  it('is an error result of a promise, and nothing is sent', async () => {
    const { server, db } = setUp();
    const asked = (db.async[method] as (...all: unknown[]) => Promise<DbResult>).apply(db.async, given);
    await vi.advanceTimersByTimeAsync(100);
    problem(await asked, db);
    expect(server.calls).toEqual([]);
    expect(server.lines).toEqual([expect.stringContaining(`bundle garage: ${method} game`)]);
    expect(server.lines[0]).toContain(place);
  });

  it('is an error result of a callback, and one line on the console however often', async () => {
    const { server, db } = setUp();
    const results: DbResult[] = [];
    for (const callback of [(result: DbResult) => results.push(result), undefined]) {
      (db[method] as (...all: unknown[]) => unknown).apply(db, [...given, callback]);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(results).toHaveLength(1);
    problem(results[0] as DbResult, db);
    expect(server.calls).toEqual([]);
    expect(server.lines).toHaveLength(1);
  });
});

describe('a name that means nothing', () => {
  it('ends a FindEach with the result', async () => {
    const { server, db } = setUp();
    const read = (async () => {
      for await (const one of db.async.FindEach('game', 'cars', { wher: 1 } as object)) throw new Error(`read ${one}`);
    })();
    const failure = expect(read).rejects.toMatchObject({ result: { Code: 'invalid_request' } });
    await vi.advanceTimersByTimeAsync(100);
    await failure;
    expect(server.calls).toEqual([]);
    expect(server.lines[0]).toContain('FindEach game.cars: query.wher');
  });

  it('is told for each table and name', async () => {
    const { server, db } = setUp();
    for (const table of ['cars', 'cars', 'bikes']) for (const name of ['a', 'b']) db.Find('game', table, { [name]: 1 });
    await vi.advanceTimersByTimeAsync(100);
    expect(server.lines).toHaveLength(4);
  });

  it('is not told without end', async () => {
    const { server, db } = setUp();
    for (let index = 0; index < 1500; index += 1) db.Find('game', `t${index}`, { where: 1 } as object, () => {});
    await vi.advanceTimersByTimeAsync(1000);
    expect(server.lines).toHaveLength(1000);
  });

  it('counts as left out where it is undefined', async () => {
    const { server, db } = setUp();
    db.First('game', 'cars', { filter: Q.Eq('id', 7), where: undefined } as object, () => {});
    expect(server.calls).toHaveLength(1);
  });

  it.each<[string, () => unknown, string]>([
    [
      'Q.Int32',
      () => Q.Int32('id', { nulable: true } as object),
      'Q.Int32: id.nulable: unknown name. Did you mean nullable?',
    ],
    ['Q.Derived', () => Q.Column('id', 'string', { derived: { form: 'a' } } as object), 'id.derived.form'],
    ['Q.Derived of its own', () => Q.Derived('id', 'string', { form: 'a' } as never), 'Did you mean from?'],
    ['Q.Table', () => Q.Table('t', [], { primarykey: ['id'] } as object), 'Q.Table: t.primarykey'],
    [
      'Q.Table of columns',
      () => Q.Table('t', [{ name: 'a', type: 'int32', uniqe: true } as never]),
      'columns[0].uniqe',
    ],
    ['Q.Index', () => Q.Index('t', ['a'], { unque: true } as object), 'Did you mean unique?'],
    ['Q.Op.Insert', () => Q.Op.Insert('t', {}, { expects: 1 } as object), 'options.expects'],
    ['Q.Op.Update', () => Q.Op.Update('t', { fliter: '' } as object), 'change.fliter'],
    ['Q.Op.Upsert', () => Q.Op.Upsert('t', {}, ['a'], { updat: [] } as object), 'options.updat'],
    ['Q.And', () => Q.And({ field: 'a', op: 'eq', vlaue: 1 } as never), 'filter 1.vlaue'],
  ])('is thrown by the builder %s', (_builder, build, message) => {
    expect(build).toThrow(TypeError);
    expect(build).toThrow(message);
  });

  it('is told of a query that is no object, too', async () => {
    const { server, db } = setUp();
    for (const method of ['First', 'FindAll', 'Find'] as const) {
      const asked = db.async[method]('game', 'cars', Q.Eq('id', 7) as never);
      await vi.advanceTimersByTimeAsync(100);
      expect(db.ErrorMessage(await asked)).toContain('query: expected an object');
    }
    expect(server.calls).toEqual([]);
  });
});
