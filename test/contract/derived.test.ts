import { describe, expect, it } from 'vitest';
import { declare, outcome, rowsOf, useSidecar } from './data-world.ts';

const world = useSidecar();
const ID = { name: 'id', type: 'int32' };
const NAME = { name: 'name', type: 'string', length: 60, nullable: true };
const DATA = { name: 'data', type: 'json', nullable: true };
const folded = (name = 'search', more: object = {}) => ({
  name,
  type: 'string',
  length: 20,
  derived: { from: 'name', fold: true },
  ...more,
});
const taken = (name: string, type: string, path: readonly (string | number)[], more: object = {}) => ({
  name,
  type,
  derived: { from: 'data', path },
  ...more,
});
const people = (...columns: object[]) => ({
  name: 'people',
  primaryKey: ['id'],
  columns: [ID, NAME, DATA, ...columns],
});
const find = (namespace: string, more: object = {}) => rowsOf(world.client, { namespace, table: 'people', ...more });
const sync = (namespace: string, ...tables: object[]) =>
  world.client.call('schema.sync', { namespace, schema: { tables } });

describe('a derived column', () => {
  it('is taken out of json, exact, and NULL where nothing fits', async () => {
    const namespace = await declare(
      world.client,
      people(
        taken('job', 'string', ['job', 'name'], { length: 8 }),
        taken('grade', 'int32', ['job', 'grades', 1]),
        taken('money', 'decimal', ['money'], { precision: 20, scale: 2 }),
        taken('big', 'int64', ['big']),
        taken('on', 'bool', ['on']),
        taken('at', 'datetime', ['at']),
        taken('whole', 'float64', []),
      ),
    );
    const text = `{"job":{"name":"police","grades":[0,3]},"money":123456789012345678.25,"big":9007199254740993,"on":false,"at":"2026-01-02T03:04:05+01:00"}`;
    const rows = `[{"id":1,"data":${text}},{"id":2,"data":{"job":{"name":"much too long","grades":[1]},"money":1.234,"big":1.5,"on":0,"at":"today"}},{"id":3,"data":null},{"id":4,"data":1.5},{"id":5}]`;
    const payload = `{"namespace":"${namespace}","table":"people","rows":${rows}}`;
    expect((await world.client.call('insert', payload)).ok).toBe(true);
    const fields = ['id', 'job', 'grade', 'money', 'big', 'on', 'at', 'whole'];
    const answer = await world.client.call(
      'find',
      JSON.stringify({ namespace, table: 'people', fields, sort: [{ field: 'id' }] }),
    );
    const nothing = '"job":null,"grade":null,"money":null,"big":null,"on":null,"at":null';
    expect(answer.text).toContain(
      `{"id":1,"job":"police","grade":3,"money":123456789012345678.25,"big":9007199254740993,"on":false,"at":"2026-01-02T02:04:05.000Z","whole":null}`,
    );
    for (const id of [2, 3, 5]) expect(answer.text).toContain(`{"id":${id},${nothing},"whole":null}`);
    expect(answer.text).toContain(`{"id":4,${nothing},"whole":1.5}`);
    expect(await find(namespace, { fields: ['id'], filter: { field: 'grade', op: 'gte', value: 3 } })).toEqual([
      { id: 1 },
    ]);
  });

  it('is folded, and so is what is looked for', async () => {
    const namespace = await declare(world.client, {
      ...people(folded()),
      indexes: [{ name: 'by_search', columns: ['search'] }],
    });
    const names = ['  Ærøskøbing ', 'ÉLODIE Dupré', 'élodie  DUPRE', 'ﬁne Straße', 'a'.repeat(30), null, '   '];
    await world.client.must('insert', { namespace, table: 'people', rows: names.map((name, id) => ({ id, name })) });
    expect((await find(namespace, { fields: ['search'] })).map(({ search }) => search)).toEqual([
      'ærøskøbing',
      'elodie dupre',
      'elodie  dupre',
      'fine straße',
      'a'.repeat(20),
      null,
      '',
    ]);
    const ids = async (op: string, value: unknown) =>
      (await find(namespace, { fields: ['id'], filter: { field: 'search', op, value } })).map(({ id }) => id);
    expect(await ids('eq', ' Élodie Dupré')).toEqual([1]);
    expect(await ids('in', ['ELODIE  dupre', 'ÆRØSKØBING'])).toEqual([0, 2]);
    expect(await ids('startsWith', 'ÉLO')).toEqual([1, 2]);
    expect(await ids('contains', 'DUPRÉ')).toEqual([1, 2]);
    expect(await ids('eq', 'A'.repeat(30))).toEqual([4]);
    expect(await ids('startsWith', ' ')).toEqual([0, 1, 2, 3, 4, 6]);
    expect(await ids('gt', 'FINE')).toEqual([0, 3]);
  });

  it('that was cut behind a space is found by the value that was read', async () => {
    const namespace = await declare(world.client, people(folded('search', { length: 4 })));
    const names = ['abc def', 'ABC', 'abcd', 'abc xyz'];
    await world.client.must('insert', { namespace, table: 'people', rows: names.map((name, id) => ({ id, name })) });
    expect((await find(namespace, { fields: ['search'] })).map(({ search }) => search)).toEqual([
      'abc ',
      'abc',
      'abcd',
      'abc ',
    ]);
    const ids = async (op: string, value: unknown) =>
      (await find(namespace, { fields: ['id'], filter: { field: 'search', op, value } })).map(({ id }) => id);
    expect(await ids('eq', 'abc ')).toEqual([0, 3]);
    expect(await ids('in', ['abc '])).toEqual([0, 3]);
    expect(await ids('gt', 'abc ')).toEqual([2]);
    expect(await ids('lt', 'abc ')).toEqual([1]);
    expect(await ids('eq', 'Abc Def')).toEqual([0, 3]);
    expect(await ids('eq', ' ABC')).toEqual([1]);
    expect(await ids('startsWith', 'abc ')).toEqual([0, 1, 2, 3]);
  });

  it('follows every write of its source, and nobody else writes it', async () => {
    const namespace = await declare(world.client, {
      ...people(folded('search', { unique: true }), taken('job', 'string', ['job'])),
    });
    const call = (operation: string, more: object) =>
      world.client.call(operation, { namespace, table: 'people', ...more });
    const one = { field: 'id', op: 'eq', value: 1 };
    await call('insert', { rows: [{ id: 1, name: 'Ann', data: { job: 'cook' } }] });
    expect(await find(namespace, { fields: ['search', 'job'] })).toEqual([{ search: 'ann', job: 'cook' }]);
    await call('update', { filter: one, set: { name: 'BOB' } });
    expect(await find(namespace, { fields: ['search', 'job'] })).toEqual([{ search: 'bob', job: 'cook' }]);
    await call('upsert', { keys: ['id'], row: { id: 1, data: { job: 'Ambulance' } } });
    expect(await find(namespace, { fields: ['search', 'job'] })).toEqual([{ search: 'bob', job: 'Ambulance' }]);
    await call('upsert', { keys: ['id'], row: { id: 2, name: 'Zoë' } });
    expect(await find(namespace, { fields: ['search', 'job'], filter: { not: one } })).toEqual([
      { search: 'zoe', job: null },
    ]);
    expect(outcome(await call('insert', { rows: [{ id: 3, name: 'zoé' }] }))).toBe('409 constraint_violation');
    for (const refused of [
      await call('insert', { rows: [{ id: 4, search: null }] }),
      await call('update', { filter: one, set: { search: 'x' } }),
      await call('upsert', { keys: ['id'], row: { id: 1, job: 'x' } }),
    ]) {
      expect(outcome(refused)).toBe('400 invalid_value');
      expect(refused.message).toMatch(/derived from (name|data)/);
    }
  });

  it('is described, and part of the hash', async () => {
    const namespace = await declare(
      world.client,
      people(folded('search', { nullable: true }), taken('x', 'int32', [])),
    );
    const { result } = await world.client.call('schema.describe', { namespace });
    const { columns } = (result.schema as { tables: { columns: object[] }[] }).tables[0] as { columns: object[] };
    expect(columns.slice(3)).toEqual([
      {
        name: 'search',
        type: 'string',
        length: 20,
        nullable: true,
        unique: false,
        autoIncrement: false,
        derived: { from: 'name', fold: true },
      },
      {
        name: 'x',
        type: 'int32',
        nullable: true,
        unique: false,
        autoIncrement: false,
        derived: { from: 'data' },
      },
    ]);
    expect((await sync(namespace, people(folded(), taken('x', 'int32', [])))).result.status).toBe('unchanged');
  });
});

describe('added to a table with rows', () => {
  const MANY = 1200;
  const rows = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      id: from + i,
      name: `Player ${from + i} É`,
      data: { job: ['Cop', 'Cook'][i % 2], n: from + i },
    }));

  it('is filled, page by page, and changes when its definition does', async () => {
    const namespace = await declare(world.client, people());
    for (let id = 0; id < MANY; id += 400) {
      await world.client.must('insert', { namespace, table: 'people', rows: rows(id, 400) });
    }
    const { result } = await sync(namespace, people(folded(), taken('job', 'string', ['job'])));
    expect(result).toMatchObject({ status: 'applied', plan: [{ kind: 'addColumn' }, { kind: 'addColumn' }] });
    const count = async (filter: object) =>
      (await world.client.must<{ count: number }>('count', { namespace, table: 'people', filter })).count;
    expect(await count({ field: 'search', op: 'isNull' })).toBe(0);
    expect(await count({ field: 'job', op: 'eq', value: 'Cop' })).toBe(MANY / 2);
    expect(await find(namespace, { fields: ['search'], filter: { field: 'id', op: 'eq', value: 1199 } })).toEqual([
      { search: 'player 1199 e' },
    ]);
    // Another type of another value, narrower than what was there.
    const changed = await sync(namespace, people(folded('search', { length: 8 }), taken('job', 'int32', ['n'])));
    expect(changed.result.plan).toMatchObject([
      { kind: 'alterColumn', column: 'search', destructive: false },
      { kind: 'alterColumn', column: 'job', destructive: false },
    ]);
    expect(await count({ field: 'search', op: 'eq', value: 'PLAYER 2' })).toBe(1 + 10 + 100);
    expect(await count({ field: 'job', op: 'lt', value: 100 })).toBe(100);
  });

  it('is filled in tables without key and with one of many columns', async () => {
    const none = { name: 'none', columns: [NAME] };
    const many = {
      name: 'many',
      primaryKey: ['b', 'a'],
      columns: [{ name: 'a', type: 'string', length: 9 }, { name: 'b', type: 'int64' }, NAME],
    };
    const namespace = await declare(world.client, none, many);
    const numbers = Array.from({ length: 30 }, (_, i) => i);
    await world.client.must('insert', { namespace, table: 'none', rows: numbers.map((i) => ({ name: `N${i % 3}` })) });
    await world.client.must('insert', {
      namespace,
      table: 'many',
      rows: numbers.map((i) => ({ a: `k${i % 7}`, b: i, name: `M${i}` })),
    });
    const both = [none, many].map((table) => ({ ...table, columns: [...table.columns, folded()] }));
    expect((await sync(namespace, ...both)).status).toBe(200);
    const found = async (table: string) =>
      (await rowsOf(world.client, { namespace, table })).map(({ name, search }) => [name, search]);
    expect(await found('none')).toEqual(numbers.map((i) => [`N${i % 3}`, `n${i % 3}`]));
    expect(await found('many')).toEqual(numbers.map((i) => [`M${i}`, `m${i}`]));
  });

  it('is refused where it is unique and values repeat, with nothing changed', async () => {
    const namespace = await declare(world.client, people());
    await world.client.must('insert', {
      namespace,
      table: 'people',
      rows: [
        { id: 1, name: 'Ann' },
        { id: 2, name: 'ÁNN' },
        { id: 3, name: null },
        { id: 4, name: null },
      ],
    });
    const { result: before } = await world.client.call('schema.describe', { namespace });
    const unique = people(folded('search', { unique: true }));
    const dryRun = await world.client.call('schema.sync', { namespace, dryRun: true, schema: { tables: [unique] } });
    for (const refused of [dryRun, await sync(namespace, unique)]) {
      expect(outcome(refused)).toBe('409 data_does_not_fit');
      expect(refused.message).toContain('rows repeat each other in search');
    }
    expect((await world.client.call('schema.describe', { namespace })).result).toEqual(before);
    await world.client.must('update', {
      namespace,
      table: 'people',
      filter: { field: 'id', op: 'eq', value: 2 },
      set: { name: 'Bea' },
    });
    expect((await sync(namespace, unique)).status).toBe(200);
    const twin = await world.client.call('insert', { namespace, table: 'people', rows: [{ id: 5, name: 'BEÀ' }] });
    expect(outcome(twin)).toBe('409 constraint_violation');
  });

  it('goes with its declaration; its source may be renamed, and it may become a column of its own', async () => {
    const namespace = await declare(world.client, people(folded()));
    await world.client.must('insert', { namespace, table: 'people', rows: [{ id: 1, name: 'Ann' }] });
    const renamed = {
      ...people(),
      columns: [
        ID,
        { ...NAME, name: 'title', renamedFrom: 'name' },
        DATA,
        folded('search', { derived: { from: 'title', fold: true } }),
      ],
    };
    const { result } = await sync(namespace, renamed);
    expect(result.plan).toMatchObject([{ kind: 'renameColumn', column: 'name', newName: 'title' }]);
    await world.client.must('update', {
      namespace,
      table: 'people',
      filter: { field: 'search', op: 'eq', value: 'ANN' },
      set: { title: 'Bob' },
    });
    const title = { ...NAME, name: 'title' };
    expect(await find(namespace)).toEqual([{ id: 1, title: 'Bob', data: null, search: 'bob' }]);
    const plain = { name: 'search', type: 'string', length: 20, nullable: true };
    expect((await sync(namespace, { ...people(), columns: [ID, title, DATA, plain] })).status).toBe(200);
    expect(outcome(await sync(namespace, renamed))).toBe('409 unsupported_change');
    const gone = await sync(namespace, { ...people(), columns: [ID, title, DATA] });
    expect(gone.result.plan).toMatchObject([{ kind: 'quarantineColumn' }]);
    const again = await sync(namespace, renamed);
    expect(again.result.plan).toMatchObject([{ kind: 'addColumn' }]);
    expect(await find(namespace)).toEqual([{ id: 1, title: 'Bob', data: null, search: 'bob' }]);
    const removed = await sync(namespace, { ...people(), columns: [ID, title, DATA] });
    expect(removed.result.plan).toMatchObject([{ kind: 'dropColumn', destructive: true }]);
  });
});
