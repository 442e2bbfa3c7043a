import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder, startSidecar, type TestSidecar } from '../support/sidecar.ts';
import { declare, outcome } from './data-world.ts';

const STATEMENT_MS = 400;
const ROWS = 60_000;
/** What other work in this process (the client, the timers) may use of a second. */
const IDLE_CPU_MS = 300;
const folder = newFolder();
let sidecar: TestSidecar;
let namespace = '';

/** Not found by any index, and never there. */
const NOBODY = Array.from({ length: 100 }, (_, i) => ({ field: 'name', op: 'contains', value: `nobody ${i}` }));
const SLOW = { or: NOBODY };
/** Everybody, but only after the long way. */
const SLOWLY_ALL = { or: [...NOBODY, { field: 'n', op: 'gte', value: 0 }] };

/** Fills the table with time enough, then starts again with little. */
beforeAll(async () => {
  const patient = await startSidecar({
    folder,
    keepFolder: true,
    config: { database: { statementTimeoutMs: 20_000 } },
  });
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
  sidecar = await startSidecar({
    folder,
    keepFolder: true,
    config: { database: { statementTimeoutMs: STATEMENT_MS } },
  });
}, 60_000);

afterAll(async () => {
  await sidecar.stop();
  rmSync(folder, { recursive: true, force: true });
});

const call = (operation: string, payload: object) =>
  sidecar.client.call(operation, { namespace, table: 'crowd', ...payload });

/** Processor time of the whole process, all threads, within a second. */
async function cpuOfOneSecondMs(): Promise<number> {
  const before = process.cpuUsage();
  const startMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1000 / (performance.now() - startMs)) * 1000;
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
    expect(answer.message).not.toContain('unknown');
    expect(performance.now() - startMs).toBeLessThan(STATEMENT_MS + 1000);
    expect(outcome(await call('find', { filter: { field: 'id', op: 'eq', value: 1 } }))).toBe('200');
    expect(outcome(await call('update', { filter: { field: 'id', op: 'eq', value: 1 }, set: { name: 'first' } }))).toBe(
      '200',
    );
  });

  it('undoes what a write had done until then', async () => {
    const change = { filter: SLOWLY_ALL, inc: { n: 1_000_000 } };
    expect(outcome(await call('update', change))).toBe('504 database_timeout');
    const filter = { field: 'n', op: 'gte', value: 1_000_000 };
    expect((await call('find', { filter, limit: 1 })).result).toEqual({ rows: [], hasMore: false });
  });

  it('gives the processor back within a second', async () => {
    const slow = Array.from({ length: 6 }, () => call('count', { filter: SLOW }));
    expect(new Set((await Promise.all(slow)).map(outcome))).toEqual(new Set(['504 database_timeout']));
    expect(await cpuOfOneSecondMs()).toBeLessThan(IDLE_CPU_MS);
  });

  it('counts waiting: more slow statements than threads all end in time', async () => {
    const startMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 30 }, () => call('count', { filter: SLOW })));
    expect(new Set(answers.map(outcome))).toEqual(new Set(['504 database_timeout']));
    expect(performance.now() - startMs).toBeLessThan(STATEMENT_MS + 1500);
  });

  it('serves finds by key while slow ones run', async () => {
    const slow = Array.from({ length: 8 }, () => call('count', { filter: SLOW }));
    const finds = Array.from({ length: 50 }, (_, i) =>
      call('find', { filter: { field: 'id', op: 'eq', value: i + 1 } }),
    );
    expect(new Set((await Promise.all(finds)).map(outcome))).toEqual(new Set(['200']));
    await Promise.all(slow);
  });
});
