import { describe, expect, it } from 'vitest';
import { ODD_NAMES, SYSTEM_COLUMNS } from '../support/odd-names.ts';
import { unique } from '../support/sidecar.ts';
import { PATIENT, rowsOf, useSidecar } from './data-world.ts';
import { buffered } from './write-behind-world.ts';

/** Columns of one table. */
const COLUMNS_AT_ONCE = 60;
/** Tables of one namespace. */
const TABLES_AT_ONCE = 100;

const QUEUED = 'odd_later';

const world = useSidecar({
  config: { ...PATIENT, ...buffered([QUEUED]), limits: { perKeyPerSecond: 1_000_000, perAddressPerSecond: 1_000_000 } },
});

const ID = { name: 'number_of_row', type: 'int32' };
const number = (name: string, more: object = {}) => ({ name, type: 'int32', nullable: true, ...more });
const is = (field: string, value: unknown) => ({ field, op: 'eq', value });

function space(namespace = unique('odd')) {
  const must = (operation: string, payload: object) => world.client.must(operation, { namespace, ...payload });
  return {
    must,
    call: (operation: string, payload: object) => world.client.call(operation, { namespace, ...payload }),
    sync: (...tables: object[]) => must('schema.sync', { schema: { tables } }),
    rows: (table: string, more: object = {}) => rowsOf(world.client, { namespace, table, ...more }),
  };
}

/** Lists of at most so many. */
function parts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** Runs each operation, on every column alike. */
async function useColumns(names: readonly string[]): Promise<void> {
  const { must, sync, rows } = space();
  const indexed = names.slice(0, 20).map((name) => ({ name, columns: [name] }));
  await sync({
    name: 'things',
    primaryKey: ['number_of_row'],
    columns: [ID, ...names.map((name) => number(name))],
    indexes: indexed,
  });
  const row = (id: number, base: number) => ({
    number_of_row: id,
    ...Object.fromEntries(names.map((name, i) => [name, base + i])),
  });
  const table = 'things';
  await must('insert', { table, rows: [row(1, 100), row(2, 300)] });
  expect(await rows(table)).toEqual([row(1, 100), row(2, 300)]);
  const all = (base: number) => ({ and: names.map((name, i) => is(name, base + i)) });
  expect(await must('count', { table, filter: all(300) })).toEqual({ count: 1 });
  const sorted = { fields: names, sort: names.slice(0, 8).map((field) => ({ field, dir: 'desc' })), limit: 1 };
  expect(await rows(table, { filter: all(300), ...sorted })).toHaveLength(1);
  const set = Object.fromEntries(names.map((name, i) => [name, 500 + i]));
  const inc = Object.fromEntries(names.map((name) => [name, 1000]));
  expect(await must('update', { table, filter: all(300), set })).toEqual({ affected: 1 });
  expect(await must('update', { table, filter: all(500), inc })).toEqual({ affected: 1 });
  expect(await rows(table, { filter: all(1500) })).toEqual([row(2, 1500)]);
  await must('upsert', { table, row: row(3, 700), keys: ['number_of_row'] });
  await must('upsert', { table, row: row(3, 800), keys: ['number_of_row'], idempotencyKey: 'again' });
  await must('upsert', { table, row: { number_of_row: 3 }, keys: ['number_of_row'], inc });
  expect(await rows(table, { filter: all(1800) })).toEqual([row(3, 1800)]);
  const operations = [1, 2, 3, 4, 5, 6].map((id) => ({
    op: 'update',
    table,
    filter: is('number_of_row', id),
    set: Object.fromEntries(names.map((name, i) => [name, id * 10_000 + i])),
  }));
  const { results } = await must('batch', { operations, atomic: world.sidecar.capabilities.transactions });
  expect(results).toEqual([1, 1, 1, 0, 0, 0].map((affected) => ({ affected })));
  expect(await rows(table)).toEqual([row(1, 10_000), row(2, 20_000), row(3, 30_000)]);
  for (const [i, name] of names.entries()) {
    const values = [
      { as: 'total', fn: 'sum', field: name },
      { as: 'least', fn: 'min', field: name },
      { as: 'most', fn: 'max', field: name },
      { as: 'kinds', fn: 'countDistinct', field: name },
    ];
    expect((await must('aggregate', { table, values })).rows).toEqual([
      { total: 60_000 + 3 * i, least: 10_000 + i, most: 30_000 + i, kinds: 3 },
    ]);
    const grouped = { table, groupBy: [name], values: [{ as: name === 'rows' ? 'rows_2' : 'rows', fn: 'count' }] };
    expect((await must('aggregate', grouped)).rows).toHaveLength(3);
  }
  expect(await must('delete', { table, filter: all(20_000) })).toEqual({ affected: 1 });
}

describe('a column of every odd name', () => {
  it.each(parts(ODD_NAMES, COLUMNS_AT_ONCE).map((names) => [names[0], names] as const))(
    'from %s on is written, found, compared, counted and added up',
    (_, names) => useColumns(names),
  );
});

it.each(parts(ODD_NAMES, COLUMNS_AT_ONCE))(
  'a column without a value is NULL, also $0 and its kin',
  async (...names) => {
    const { must, sync, rows } = space();
    await sync({ name: 'things', primaryKey: ['number_of_row'], columns: [ID, ...names.map((name) => number(name))] });
    await must('insert', { table: 'things', rows: [{ number_of_row: 1 }] });
    const empty = Object.fromEntries(names.map((name) => [name, null]));
    expect(await rows('things')).toEqual([{ number_of_row: 1, ...empty }]);
    const values = [{ as: names[0] as string, fn: 'max', field: names[0] }];
    expect(await must('aggregate', { table: 'things', values })).toMatchObject({
      rows: [{ [names[0] as string]: null }],
    });
  },
);

describe('a table of every odd name', () => {
  it.each(parts(ODD_NAMES, TABLES_AT_ONCE).map((names) => [names[0], names] as const))(
    'from %s on holds rows',
    async (_, names) => {
      const { must, sync, rows } = space();
      await sync(...names.map((name) => ({ name, primaryKey: [name], columns: [{ name, type: 'int64' }] })));
      for (const [i, table] of names.entries()) await must('insert', { table, rows: [{ [table]: i }] });
      for (const [i, table] of names.entries()) expect(await rows(table)).toEqual([{ [table]: i }]);
    },
  );
});

describe.each(SYSTEM_COLUMNS)('a column %s', (name) => {
  const keyed = (...columns: object[]) => ({ name: 't', primaryKey: ['number_of_row'], columns: [ID, ...columns] });

  it('is renamed, changed, taken out and added again', async () => {
    const { must, sync, rows } = space();
    await sync(keyed(number('plain')));
    await must('insert', { table: 't', rows: [{ number_of_row: 1, plain: 5 }] });
    await sync(keyed(number(name, { renamedFrom: 'plain' })));
    expect(await rows('t')).toEqual([{ number_of_row: 1, [name]: 5 }]);
    await sync(keyed({ name, type: 'int64', unique: true }));
    await must('update', { table: 't', filter: is(name, 5), inc: { [name]: 2 } });
    await sync(keyed({ name: 'other', type: 'int64', renamedFrom: name }));
    expect(await rows('t')).toEqual([{ number_of_row: 1, other: 7 }]);
    await sync(keyed({ name: 'other', type: 'int64' }, number(name, { default: 9 })));
    expect(await rows('t')).toEqual([{ number_of_row: 1, other: 7, [name]: 9 }]);
    await sync(keyed({ name: 'other', type: 'int64' }));
    await sync(keyed({ name: 'other', type: 'int64' }, { name, type: 'string', length: 8, default: 'x' }));
    expect(await rows('t')).toEqual([{ number_of_row: 1, other: 7, [name]: 'x' }]);
  });

  it('is a key, given or generated, and loses the key', async () => {
    const { must, sync, rows } = space();
    const table = (more: object) => ({ name: 't', columns: [{ name, type: 'int64' }, number('n')], ...more });
    const counted = { primaryKey: [name], columns: [{ name, type: 'int64', autoIncrement: true }, number('n')] };
    await sync({ name: 'generated', ...counted }, table({ primaryKey: [name] }));
    expect(await must('insert', { table: 'generated', rows: [{ n: 1 }, { n: 2 }] })).toMatchObject({ ids: [1, 2] });
    await must('upsert', { table: 'generated', row: { [name]: 2, n: 3 }, keys: [name] });
    expect(await rows('generated')).toEqual([
      { [name]: 1, n: 1 },
      { [name]: 2, n: 3 },
    ]);
    await must('insert', { table: 't', rows: [{ [name]: 8, n: 1 }] });
    await must('insert', { table: 't', rows: [{ [name]: 4, n: 2 }] });
    expect((await rows('t')).map((row) => row[name])).toEqual([4, 8]);
    await sync({ name: 'generated', ...counted }, table({}));
    await must('insert', { table: 't', rows: [{ [name]: 4, n: 3 }] });
    expect((await rows('t')).map((row) => row[name])).toEqual([4, 8, 4]);
    await sync(
      table({
        primaryKey: ['n', name],
        columns: [
          { name: 'n', type: 'int32' },
          { name, type: 'int64' },
        ],
      }),
    );
    expect((await rows('t')).map((row) => row[name])).toEqual([8, 4, 4]);
  });

  it('stands in a table without key, and gives an index and a table its name', async () => {
    const { must, call, sync, rows } = space();
    const indexes = [{ name, columns: [name], unique: true }];
    await sync({ name, columns: [number(name), number('n')], indexes });
    await must('insert', { table: name, rows: [5, 3, 4].map((value) => ({ [name]: value, n: 1 })) });
    expect((await rows(name)).map((row) => row[name])).toEqual([5, 3, 4]);
    const again = await call('insert', { table: name, rows: [{ [name]: 5 }] });
    expect(again.code).toBe('constraint_violation');
    expect(again.text).not.toContain(`_${name}`);
    expect((await rows(name, { sort: [{ field: name }] })).map((row) => row[name])).toEqual([3, 4, 5]);
  });
});

describe('writes that wait', () => {
  it('are put together, applied and kept in the order of their arrival, whatever the columns are called', async () => {
    const { must, sync, rows } = space(QUEUED);
    const names = [...SYSTEM_COLUMNS, 'namespace', 'journal', 'position', 'key', 'result', 'excluded', 'old', 'new'];
    await sync({ name: 't', primaryKey: ['number_of_row'], columns: [ID, ...names.map((name) => number(name))] });
    const all = (value: number) => Object.fromEntries(names.map((name) => [name, value]));
    const keys = ['number_of_row'];
    await must('insert', { table: 't', rows: [1, 2].map((id) => ({ number_of_row: id, ...all(id) })) });
    await must('upsert', { table: 't', row: { number_of_row: 3, ...all(3) }, keys });
    await must('upsert', { table: 't', row: { number_of_row: 4 }, keys, inc: all(1) });
    await must('upsert', { table: 't', row: { number_of_row: 4 }, keys, inc: all(1) });
    await must('update', { table: 't', filter: is('number_of_row', 1), set: all(9) });
    await must('update', { table: 't', filter: is('ctid', 2), inc: all(5) });
    expect(await must('flush', {})).toMatchObject({ deadLettered: 0, remaining: 0 });
    expect(await rows('t')).toEqual([9, 7, 3, 7].map((value, i) => ({ number_of_row: i + 1, ...all(value) })));
  });
});
