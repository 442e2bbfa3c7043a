import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Database, type DbResult, Q } from '#connector/helper/helper.ts';
import { FakeServer, ok } from './fake-server.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A value that the types forbid, as a script in JavaScript gives it. */
const wrong = (value: unknown) => value as never;
const RELATION = { as: 'x', table: 'b', from: 'c', to: 'd' };

type Ask = (db: Database) => Promise<DbResult>;

/** Calls with an argument of a wrong type, and the message. */
const MISTAKES: readonly [string, Ask, string][] = [
  [
    'fields of FindAll',
    (db) => db.async.FindAll('game', 't', wrong({ fields: 'id' })),
    'fields: expected a list of names, got a string',
  ],
  [
    'a field of FindAll',
    (db) => db.async.FindAll('game', 't', wrong({ fields: ['id', 5] })),
    'fields[1]: expected a name, got a number',
  ],
  [
    'max of FindAll',
    (db) => db.async.FindAll('game', 't', wrong({ max: '5' })),
    'max: expected a number of rows, got a string',
  ],
  [
    'max that is no number',
    (db) => db.async.FindAll('game', 't', { max: Number.NaN }),
    'max: expected a number of rows, got NaN',
  ],
  [
    'fields of FindWith',
    (db) => db.async.FindWith('game', 't', wrong({ fields: 'id' }), RELATION),
    'fields: expected a list of names, got a string',
  ],
  [
    'fields of a relation',
    (db) => db.async.FindWith('game', 't', {}, [RELATION, wrong({ ...RELATION, fields: 'id' })]),
    'relation 2: fields: expected a list of names, got a string',
  ],
  [
    'filter of a relation',
    (db) => db.async.FindWith('game', 't', {}, wrong({ ...RELATION, filter: 5 })),
    'relation 1: filter: expected a filter such as Q.Eq(…), or a plain object, got a number',
  ],
  [
    'max of a relation',
    (db) => db.async.FindWith('game', 't', {}, wrong({ ...RELATION, max: '5' })),
    'relation 1: max: expected a number of rows, got a string',
  ],
  [
    'immediate of Insert',
    (db) => db.async.Insert('game', 't', { id: 1 }, wrong({ immediate: 'yes' })),
    'immediate: expected true or false, got a string',
  ],
  [
    'immediate of Upsert',
    (db) => db.async.Upsert('game', 't', { id: 1 }, ['id'], wrong({ immediate: 1 })),
    'immediate: expected true or false, got a number',
  ],
  [
    'immediate of Batch',
    (db) => db.async.Batch('game', [], wrong({ immediate: 'false' })),
    'immediate: expected true or false, got a string',
  ],
  ['operation of Call', (db) => db.async.Call(wrong(undefined), '{}'), 'operation: expected a name, got undefined'],
];

describe('an argument of a wrong type', () => {
  it.each(MISTAKES)('is refused by its name, and nothing is sent: %s', async (_what, ask, message) => {
    const server = new FakeServer();
    const db = new Database(server);
    const asked = ask(db);
    await vi.advanceTimersByTimeAsync(100);
    expect(db.ErrorMessage(await asked)).toBe(`invalid_request: ${message}`);
    expect(server.calls).toEqual([]);
  });

  it('fails no other call of the same turn', async () => {
    const server = new FakeServer();
    server.reply = () => ok({});
    const db = new Database(server);
    const asked = Promise.all([
      db.async.Health(),
      db.async.Health(),
      db.async.Call(wrong(undefined), '{}'),
      db.async.Call(wrong(5), '{}'),
      db.async.Insert('game', 't', { id: 1 }),
    ]);
    await vi.advanceTimersByTimeAsync(100);
    expect((await asked).map(({ Code }) => Code)).toEqual(['', '', 'invalid_request', 'invalid_request', '']);
  });
});

describe('null for an argument that may be left out', () => {
  const pages = [ok({ rows: [{ id: 1, a: 1 }], hasMore: true }), ok({ rows: [{ id: 2, a: 1 }], hasMore: false })];

  function rowsServer(): FakeServer {
    const server = new FakeServer();
    let page = 0;
    server.reply = ({ operation }) => {
      if (operation === 'schema.describe') return ok({ schema: { tables: [{ name: 't', primaryKey: ['id'] }] } });
      page += 1;
      return pages[(page - 1) % 2] ?? ok({});
    };
    return server;
  }

  it.each(['filter', 'sort', 'fields', 'max'])('means left out in FindAll, on each page: %s', async (name) => {
    const db = new Database(rowsServer());
    const asked = db.async.FindAll('game', 't', wrong({ [name]: null }));
    await vi.advanceTimersByTimeAsync(500);
    const all = await asked;
    expect(db.ErrorMessage(all)).toBe('');
    expect(db.Rows(all)).toEqual([
      { id: 1, a: 1 },
      { id: 2, a: 1 },
    ]);
  });

  it.each(['filter', 'sort', 'fields', 'max'])('means left out in FindWith and in a relation: %s', async (name) => {
    const server = new FakeServer();
    server.reply = () => ok({ rows: [{ id: 1, a: 1 }], hasMore: false });
    const db = new Database(server);
    const query = name === 'max' ? {} : { [name]: null };
    const relation = { as: 'x', table: 't', from: 'id', to: 'id', [name]: null };
    const asked = db.async.FindWith('game', 't', wrong(query), wrong(relation));
    await vi.advanceTimersByTimeAsync(500);
    const found = await asked;
    expect(db.ErrorMessage(found)).toBe('');
    expect(db.Rows(found)).toEqual([{ id: 1, a: 1, x: { id: 1, a: 1 } }]);
  });

  it('ends a loop over FindEach with its result, whatever the mistake', async () => {
    const db = new Database(new FakeServer());
    const walked = (async () => {
      for await (const _row of db.async.FindEach('game', 't', wrong({ fields: 'id' }))) throw new Error('no row');
    })();
    const told = walked.catch((error: { result?: DbResult }) => error.result?.Code);
    await vi.advanceTimersByTimeAsync(100);
    expect(await told).toBe('invalid_request');
  });
});

it('Q.Immediate of its own text says so once', () => {
  expect(Q.Immediate(Q.Immediate({ namespace: 'game' }))).toBe('{"namespace":"game","durability":"immediate"}');
});
