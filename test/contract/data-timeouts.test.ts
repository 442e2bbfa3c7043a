import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { declare, itDiffers, outcome } from './data-world.ts';

const STATEMENT_MS = 400;
/** Delay that a busy machine may add. */
const BUSY_MS = 2500;
const ROWS = 60_000;
let database: TestDatabase;
let sidecar: TestSidecar;
let namespace = '';

/** Not found by any index, and never there. */
const NOBODY = Array.from({ length: 100 }, (_, i) => ({ field: 'name', op: 'contains', value: `nobody ${i}` }));
const SLOW = { or: NOBODY };
/** Everybody, but only after the long way. */
const SLOWLY_ALL = { or: [...NOBODY, { field: 'n', op: 'gte', value: 0 }] };

/** Fills the table with time enough, then starts again with little. */
beforeAll(async () => {
  database = await newDatabase();
  const patient = await startSidecar({ database, config: { database: { statementTimeoutMs: 20_000 } } });
  namespace = await declare(patient.client, {
    name: 'crowd',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'int32', autoIncrement: true },
      { name: 'name', type: 'string' },
      { name: 'n', type: 'int32', default: 0 },
    ],
    indexes: [{ name: 'by_n', columns: ['n'] }],
  });
  for (let from = 0; from < ROWS; from += 1000) {
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      name: `somebody of number ${from + i} ${'n'.repeat(200)}`,
      n: i,
    }));
    await patient.client.must('insert', { namespace, table: 'crowd', rows });
  }
  await patient.stop();
  sidecar = await startSidecar({ database, config: { database: { statementTimeoutMs: STATEMENT_MS } } });
}, 60_000);

afterAll(async () => {
  await sidecar?.stop();
  await database?.drop();
});

const call = (operation: string, payload: object) =>
  sidecar.client.call(operation, { namespace, table: 'crowd', ...payload });

/** A quick call. On a busy machine it too may take longer than the limit, and is sent again. */
async function served(operation: string, payload: object) {
  let answer = await call(operation, payload);
  for (let more = 20; more > 0 && outcome(answer) === '504 database_timeout'; more -= 1) {
    answer = await call(operation, payload);
  }
  expect(outcome(answer)).toBe('200');
  return answer;
}

describe('statementTimeoutMs', () => {
  it.each([
    ['count', { filter: SLOW }],
    ['find', { filter: SLOW, sort: [{ field: 'name', dir: 'desc' }] }],
    ['update', { filter: SLOWLY_ALL, inc: { n: 1 } }],
    ['delete', { filter: SLOW }],
  ])('ends a slow %s with 504, and the next call is served', async (operation, payload) => {
    const startMs = performance.now();
    const answer = await call(operation, payload);
    expect(outcome(answer)).toBe('504 database_timeout');
    expect(performance.now() - startMs).toBeLessThan(STATEMENT_MS + BUSY_MS);
    await served('find', { filter: { field: 'id', op: 'eq', value: 1 } });
    await served('update', { filter: { field: 'id', op: 'eq', value: 1 }, set: { name: 'first' } });
  });

  const changeAll = async () => {
    const answer = await call('update', { filter: SLOWLY_ALL, inc: { n: 1_000_000 } });
    expect(outcome(answer)).toBe('504 database_timeout');
    const changed = await served('find', { filter: { field: 'n', op: 'gte', value: 1_000_000 }, limit: 1 });
    return { isUnknown: answer.message.includes('unknown'), rows: changed.result.rows };
  };
  itDiffers('stoppedUpdate', () => sidecar.capabilities, {
    can: async () => expect(await changeAll()).toEqual({ isUnknown: false, rows: [] }),
    cannot: async () => {
      const { isUnknown, rows } = await changeAll();
      if (!isUnknown) expect(rows).toEqual([]);
    },
  });

  it('ends a batch at the operation that takes too long, and says which', async () => {
    const quick = { op: 'delete', table: 'crowd', filter: { field: 'id', op: 'eq', value: -1 } };
    const slow = { op: 'delete', table: 'crowd', filter: SLOW };
    const answer = await call('batch', { operations: [quick, slow, quick], atomic: false });
    expect(outcome(answer)).toBe('504 database_timeout');
    expect(answer.message).toMatch(/^operations\[1\]: /);
    expect(answer.result.error).toMatchObject({ index: 1 });
  });

  it('counts waiting: more slow statements than can run all end in time', async () => {
    const startMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 30 }, () => call('count', { filter: SLOW })));
    expect([...new Set(answers.map(outcome))]).toEqual(['504 database_timeout']);
    expect(performance.now() - startMs).toBeLessThan(STATEMENT_MS + BUSY_MS);
  });

  it('serves finds by key while slow ones run', async () => {
    const slow = Array.from({ length: 2 }, () => call('count', { filter: SLOW }));
    for (let id = 1; id <= 10; id++) {
      expect(outcome(await call('find', { filter: { field: 'id', op: 'eq', value: id } }))).toBe('200');
    }
    await Promise.all(slow);
  });
});
