import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { newDatabase, type TestDatabase } from '../support/test-database.ts';
import { outcome, rowsOf } from './data-world.ts';

/** Longer than keys are remembered. */
const APART_MS = 20 * 60_000;

/** Two sidecars of one database; the clock of the second is ahead, and each caller signs for the clock of the sidecar it calls. */
let database: TestDatabase;
let right: TestSidecar;
let ahead: TestSidecar;
const table = (name: string) => ({
  name,
  primaryKey: ['id'],
  columns: [
    { name: 'id', type: 'int32', autoIncrement: true },
    { name: 'x', type: 'int32' },
  ],
});

beforeAll(async () => {
  database = await newDatabase();
  right = await startSidecar({ database });
  ahead = await startSidecar({
    database,
    now: () => Date.now() + APART_MS,
    monotonicNow: () => performance.now(),
    config: { writeBehind: { namespaces: { queued: {} } } },
  });
  const others = async () => (await ahead.client.must<{ sidecars: object[] }>('health')).sidecars;
  await vi.waitFor(async () => expect(await others()).toHaveLength(1), 20_000);
  for (const namespace of ['game', 'queued']) {
    await right.client.must('schema.sync', { namespace, schema: { tables: [table('log')] } });
  }
});

afterAll(async () => {
  await ahead.stop();
  await right.stop();
  await database.drop();
});

const insertion = (namespace: string, idempotencyKey: string) => ({
  ...{ namespace, table: 'log', rows: [{ x: 1 }], idempotencyKey },
});

it('a key that was just used at another sidecar is known, however far the clocks are apart', async () => {
  const first = await right.client.call('insert', insertion('game', 'once'));
  expect(outcome(first)).toBe('200');
  expect((await ahead.client.call('insert', insertion('game', 'once'))).text).toBe(first.text);

  const operations = [{ op: 'insert', table: 'log', rows: [{ x: 2 }] }];
  const batch = { namespace: 'game', operations, atomic: right.capabilities.transactions, idempotencyKey: 'batch' };
  const done = await right.client.call('batch', batch);
  expect(outcome(done)).toBe('200');
  expect((await ahead.client.call('batch', batch)).text).toBe(done.text);
  expect(await rowsOf(right.client, { namespace: 'game', table: 'log' })).toHaveLength(2);
});

it('the same if the other one queues it', async () => {
  await right.client.must('insert', insertion('queued', 'once'));
  expect((await ahead.client.call('insert', insertion('queued', 'once'))).status).toBeLessThan(300);
  await ahead.client.must('flush', { namespace: 'queued' });
  expect(await rowsOf(right.client, { namespace: 'queued', table: 'log' })).toHaveLength(1);
});
