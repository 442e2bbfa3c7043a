import { describe, expect, it } from 'vitest';
import { declare, outcome, rowsOf, useSidecar } from './data-world.ts';

const world = useSidecar();
const ID = { name: 'id', type: 'int32' };
const jobs = (...oneOf: string[]) => ({
  name: 'jobs',
  primaryKey: ['id'],
  columns: [ID, { name: 'job', type: 'string', nullable: true, ...(oneOf.length === 0 ? {} : { oneOf }) }],
});
const sync = (namespace: string, ...tables: object[]) =>
  world.client.call('schema.sync', { namespace, schema: { tables } });

describe('oneOf', () => {
  it('refuses every other value, and lets NULL and any filter be', async () => {
    const namespace = await declare(world.client, jobs('cop', 'Cook', "o'b ? \\"));
    const call = (operation: string, more: object) =>
      world.client.call(operation, { namespace, table: 'jobs', ...more });
    const all = [
      { id: 1, job: 'cop' },
      { id: 2, job: null },
      { id: 3, job: "o'b ? \\" },
    ];
    expect(outcome(await call('insert', { rows: all }))).toBe('200');
    for (const refused of [
      await call('insert', { rows: [{ id: 4, job: 'Cop' }] }),
      await call('update', { filter: { field: 'id', op: 'eq', value: 1 }, set: { job: 'cook' } }),
      await call('upsert', { keys: ['id'], row: { id: 1, job: 'cop ' } }),
    ]) {
      expect(outcome(refused)).toBe('400 invalid_value');
      expect(refused.message).toContain('job: expected one of the values');
    }
    const filter = { field: 'job', op: 'ne', value: 'nurse' };
    expect(await rowsOf(world.client, { namespace, table: 'jobs', filter })).toEqual([all[0], all[2]]);
  });

  it('is narrowed where every row fits, else nothing changes', async () => {
    const namespace = await declare(world.client, jobs());
    const rows = ['cop', 'Cop', 'cop ', null, "o'b ? \\"].map((job, id) => ({ id, job }));
    await world.client.must('insert', { namespace, table: 'jobs', rows });
    const refused = await sync(namespace, jobs('cop', "o'b ? \\"));
    expect(outcome(refused)).toBe('409 data_does_not_fit');
    expect(refused.message).toContain('2 rows have a value that oneOf does not list');
    const fitting = await sync(namespace, jobs('cop', 'Cop', 'cop ', "o'b ? \\"));
    expect(fitting.result.plan).toMatchObject([{ kind: 'alterColumn', destructive: true }]);
    const wider = await sync(namespace, jobs('nurse', 'cop', 'Cop', 'cop ', "o'b ? \\"));
    expect(wider.result.plan).toMatchObject([{ kind: 'alterColumn', destructive: false }]);
    expect(outcome(await sync(namespace, jobs('nurse')))).toBe('409 data_does_not_fit');
    expect((await sync(namespace, jobs())).result.status).toBe('applied');
  });
});

describe('onUpdate', () => {
  const table = {
    name: 'notes',
    primaryKey: ['id'],
    columns: [
      ID,
      { name: 'n', type: 'int32', default: 0 },
      { name: 'at', type: 'datetime', onUpdate: 'now', nullable: true },
      { name: 'day', type: 'date', onUpdate: 'now', default: '2001-01-01' },
    ],
  };
  const EARLY = { at: '2000-01-01T00:00:00.000Z', day: '2000-01-01' };
  const one = { field: 'id', op: 'eq', value: 1 };

  it('is the time of every update that does not set it', async () => {
    const namespace = await declare(world.client, table);
    const call = (operation: string, more: object) =>
      world.client.must(operation, { namespace, table: 'notes', ...more });
    const read = async () => (await rowsOf(world.client, { namespace, table: 'notes', filter: one }))[0];
    const isNow = (value: unknown) => Math.abs(Date.now() - Date.parse(String(value))) < 86_400_000;
    await call('insert', { rows: [{ id: 1 }] });
    expect(await read()).toEqual({ id: 1, n: 0, at: null, day: '2001-01-01' });
    for (const change of [{ set: { n: 1 } }, { inc: { n: 1 } }]) {
      await call('update', { filter: one, set: EARLY });
      expect(await read()).toMatchObject(EARLY);
      await call('update', { filter: one, ...change });
      const row = await read();
      expect([row?.at, row?.day].map(isNow)).toEqual([true, true]);
    }
    await call('update', { filter: one, set: { at: null } });
    expect((await read())?.at).toBeNull();
  });

  it('is the time of an upsert that finds the row, and the default where it makes one', async () => {
    const namespace = await declare(world.client, table);
    const upsert = (more: object) => world.client.must('upsert', { namespace, table: 'notes', keys: ['id'], ...more });
    const read = async () => (await rowsOf(world.client, { namespace, table: 'notes', filter: one }))[0];
    const isNow = (value: unknown) => Math.abs(Date.now() - Date.parse(String(value))) < 86_400_000;
    await upsert({ row: { id: 1, n: 3 } });
    expect(await read()).toEqual({ id: 1, n: 3, at: null, day: '2001-01-01' });
    await upsert({ row: { id: 1, n: 4, ...EARLY }, update: [] });
    expect(await read()).toEqual({ id: 1, n: 3, at: null, day: '2001-01-01' });
    for (const change of [{ row: { id: 1, n: 4 } }, { row: { id: 1 }, inc: { n: 1 } }, { row: { id: 1 } }]) {
      await upsert({ row: { id: 1, ...EARLY } });
      expect(await read()).toMatchObject(EARLY);
      await upsert(change);
      const row = await read();
      expect([row?.at, row?.day].map(isNow)).toEqual([true, true]);
    }
    await upsert({ row: { id: 1, n: 9, ...EARLY }, update: ['n', 'at'] });
    expect(await read()).toMatchObject({ n: 9, at: EARLY.at });
    expect(isNow((await read())?.day)).toBe(true);
  });
});

const REFUSED: readonly (readonly [string, object, RegExp])[] = [
  ['a source that is not there', { type: 'string', derived: { from: 'x' } }, /columns\[1\]\.derived\.from/],
  ['itself', { type: 'string', derived: { from: 'c' } }, /derived\.from: c is derived itself/],
  ['a number as source', { type: 'string', derived: { from: 'id' } }, /expected a column of type json, string or text/],
  ['a type that is not listed', { type: 'json', derived: { from: 'j' } }, /cannot be derived/],
  ['a path into text', { type: 'string', derived: { from: 's', path: ['a'] } }, /s is not a json column/],
  ['a number out of text', { type: 'int32', derived: { from: 's' } }, /int32 cannot be derived/],
  ['a folded number', { type: 'int32', derived: { from: 'j', fold: true } }, /derived\.fold/],
  ['a negative index', { type: 'int32', derived: { from: 'j', path: [-1] } }, /path\[0\].*got -1/],
  ['a default', { type: 'int32', derived: { from: 'j' }, default: 1 }, /c?\.default/],
  ['required', { type: 'int32', derived: { from: 'j' }, nullable: false }, /always nullable/],
  ['onUpdate of text', { type: 'string', onUpdate: 'now' }, /onUpdate: expected a column of type datetime or date/],
  ['onUpdate to a day', { type: 'date', onUpdate: '2001-01-01' }, /onUpdate: expected "now"/],
  ['oneOf of numbers', { type: 'int32', oneOf: ['1'] }, /oneOf: expected a column of type string/],
  ['oneOf of nothing', { type: 'string', oneOf: [] }, /oneOf: expected 1 to 1000 values/],
  ['oneOf with a value twice', { type: 'string', oneOf: ['a', 'a'] }, /oneOf\[1\]: stands twice/],
  ['oneOf with a value too long', { type: 'string', length: 1, oneOf: ['ab'] }, /oneOf\[0\]/],
  ['a default that oneOf lacks', { type: 'string', oneOf: ['a'], default: 'b' }, /\.default/],
];

it.each(REFUSED)('a declaration with %s is invalid_schema', async (_name, column, message) => {
  const columns = [ID, { name: 'c', ...column }, { name: 'j', type: 'json' }, { name: 's', type: 'string' }];
  const refused = await sync('refused', { name: 't', primaryKey: ['id'], columns });
  expect(outcome(refused)).toBe('400 invalid_schema');
  expect(refused.message).toMatch(message);
});
