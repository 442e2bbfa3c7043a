import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { outcome, rowsOf } from './data-world.ts';

/** Two sidecars of one database: what one has read of a schema may be out of date by the other's sync. */
let database: TestDatabase;
let first: TestSidecar;
let second: TestSidecar;
const column = (name: string, more: object = {}) => ({ name, type: 'int32', ...more });
const table = (name: string, ...columns: object[]) => ({ name, columns });

beforeAll(async () => {
  database = await newDatabase();
  first = await startSidecar({ database });
  second = await startSidecar({ database });
});

afterAll(async () => {
  await second.stop();
  await first.stop();
  await database.drop();
});

const sync = (sidecar: TestSidecar, ...tables: object[]) =>
  sidecar.client.must('schema.sync', { namespace: 'shared', schema: { tables } });
const insert = (sidecar: TestSidecar, name: string, row: object) =>
  sidecar.client.call('insert', { namespace: 'shared', table: name, rows: [row] });

it('each uses the schema that is stored, whoever stored it', async () => {
  await sync(first, table('a', column('x')));
  expect(outcome(await insert(first, 'a', { x: 1 }))).toBe('200');
  expect(outcome(await insert(second, 'a', { x: 2 }))).toBe('200');

  await sync(second, table('a', column('x'), column('y', { default: 7 })), table('b', column('z')));
  expect(outcome(await insert(first, 'b', { z: 1 }))).toBe('200');
  expect(outcome(await insert(first, 'a', { x: 3, y: 4 }))).toBe('200');
  expect(await rowsOf(first.client, { namespace: 'shared', table: 'a' })).toEqual([
    { x: 1, y: 7 },
    { x: 2, y: 7 },
    { x: 3, y: 4 },
  ]);

  await sync(first, table('a', column('x')));
  expect(outcome(await insert(second, 'b', { z: 1 }))).toBe('404 unknown_table');
  expect(outcome(await insert(second, 'a', { x: 4, y: 4 }))).toBe('400 unknown_column');
  expect(await rowsOf(second.client, { namespace: 'shared', table: 'a', limit: 1 })).toEqual([{ x: 1 }]);
});

it('neither refuses what the other has just declared to fit', async () => {
  const named = (...columns: object[]) => ({ name: 'f', primaryKey: ['id'], columns: [column('id'), ...columns] });
  const call = (operation: string, payload: object) =>
    second.client.call(operation, { namespace: 'shared', table: 'f', ...payload });
  const cases: [before: object, after: object, operation: string, payload: object][] = [
    [column('v'), column('v', { nullable: true }), 'insert', { rows: [{ id: 1 }] }],
    [column('v'), { name: 'v', type: 'int64' }, 'insert', { rows: [{ id: 2, v: 2 ** 40 }] }],
    [
      column('v'),
      { name: 'v', type: 'string', length: 9 },
      'find',
      { filter: { field: 'v', op: 'startsWith', value: 'a' } },
    ],
    [
      { name: 'v', type: 'string', length: 3 },
      { name: 'v', type: 'string', length: 9 },
      'insert',
      { rows: [{ id: 3, v: 'longer' }] },
    ],
    [{ name: 'v', type: 'json' }, column('v'), 'find', { sort: [{ field: 'v', dir: 'asc' }] }],
    [column('v'), column('v', { unique: true }), 'upsert', { row: { id: 4, v: 1 }, keys: ['v'] }],
  ];
  for (const [before, after, operation, payload] of cases) {
    await sync(first);
    await sync(first, named(before));
    expect((await call(operation, payload)).status).toBe(400);
    // Also changes of type that no stored column may make.
    await sync(first);
    await sync(first, named(after));
    expect([operation, outcome(await call(operation, payload))]).toEqual([operation, '200']);
  }
});

it('a nonce that names a sidecar is good there alone, and refusing it counts for no lock-out', async () => {
  await sync(first, table('n', column('x')));
  const { instance } = (await (await fetch(`${first.address}/v1/health`)).json()) as { instance: string };
  const payload = { namespace: 'shared', table: 'n', rows: [{ x: 1 }] };
  for (let round = 0; round < 30; round += 1) {
    const envelope = first.client.envelope('/v1/data/insert', payload, { nonce: `${instance}.${round}` });
    const elsewhere = await second.client.send('/v1/data/insert', envelope);
    expect(elsewhere).toMatchObject({ status: 401, code: 'unauthorized', isSigned: false });
    if (round > 0) continue;
    expect(outcome(await first.client.send('/v1/data/insert', envelope))).toBe('200');
    expect(await first.client.send('/v1/data/insert', envelope)).toMatchObject({ status: 401 });
  }
  expect(await rowsOf(second.client, { namespace: 'shared', table: 'n' })).toEqual([{ x: 1 }]);
});

it('writes of both are kept, and one key counts once between them', async () => {
  await sync(first, { ...table('c', column('id'), column('n', { default: 0 })), primaryKey: ['id'] });
  await insert(first, 'c', { id: 1 });
  const change = { namespace: 'shared', table: 'c', filter: { field: 'id', op: 'eq', value: 1 }, inc: { n: 1 } };
  const calls = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? first : second).client.call('update', change));
  expect(new Set((await Promise.all(calls)).map(outcome))).toEqual(new Set(['200']));
  const twins = [first, second].map(({ client }) => client.must('update', { ...change, idempotencyKey: 'once' }));
  expect(await Promise.all(twins)).toEqual([{ affected: 1 }, { affected: 1 }]);
  expect(await rowsOf(first.client, { namespace: 'shared', table: 'c' })).toEqual([{ id: 1, n: 101 }]);
});
