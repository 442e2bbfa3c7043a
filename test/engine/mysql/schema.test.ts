import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CrashingSessions,
  type Declaration,
  deathsOf,
  inParallel,
  type SchemaWorld,
  schemaWorld,
  sync,
} from './schema-world.ts';

let world: SchemaWorld;

beforeAll(async () => {
  world = await schemaWorld();
});

afterAll(async () => {
  await world.drop();
});

const ID = { name: 'id', type: 'int64', autoIncrement: true };

/** Every kind of step at once: each table takes another way. */
const BEFORE: Declaration = {
  tables: [
    {
      name: 'accounts',
      primaryKey: ['id'],
      columns: [
        ID,
        { name: 'name', type: 'string', length: 20, unique: true },
        { name: 'money', type: 'decimal', precision: 18, scale: 2 },
        { name: 'note', type: 'text', nullable: true },
        { name: 'rank', type: 'int32', nullable: true },
      ],
      indexes: [{ name: 'by_money', columns: ['money'] }],
    },
    { name: 'lines', columns: [{ name: 'line', type: 'string' }] },
    {
      name: 'places',
      primaryKey: ['x', 'y'],
      columns: [
        { name: 'x', type: 'int32' },
        { name: 'y', type: 'int32' },
      ],
    },
    { name: 'gone', primaryKey: ['id'], columns: [ID] },
  ],
};

const AFTER: Declaration = {
  tables: [
    {
      name: 'people',
      renamedFrom: 'accounts',
      primaryKey: ['id'],
      columns: [
        ID,
        { name: 'label', type: 'string', length: 30, unique: true, renamedFrom: 'name' },
        { name: 'money', type: 'int64' },
        { name: 'note', type: 'string', length: 10, nullable: true },
        { name: 'level', type: 'int32', default: 5 },
        { name: 'code', type: 'uuid', default: 'random', unique: true },
      ],
      indexes: [{ name: 'by_level', columns: ['level', 'money'] }],
    },
    {
      name: 'lines',
      primaryKey: ['n'],
      columns: [
        { name: 'line', type: 'string' },
        { ...ID, name: 'n' },
      ],
    },
    {
      name: 'places',
      columns: [
        { name: 'x', type: 'int32' },
        { name: 'y', type: 'int64' },
      ],
    },
    { name: 'more', primaryKey: ['id'], columns: [ID, { name: 'data', type: 'json', nullable: true }] },
  ],
};

async function fill(namespace: string): Promise<void> {
  const { sql } = world;
  await sql(`INSERT INTO ${namespace}__accounts (name, money, note, \`rank\`) VALUES
    ('a', 1.00, 'x', 3), ('b ', 20, NULL, NULL), ('B', -300, 'zz', 7), ('gone', 0, NULL, NULL)`);
  await sql(`DELETE FROM ${namespace}__accounts WHERE name = 'gone'`);
  await sql(`INSERT INTO ${namespace}__lines (line) VALUES ('c'), ('a'), ('b')`);
  await sql(`INSERT INTO ${namespace}__places (x, y) VALUES (2, 1), (1, 9), (1, 2)`);
  await sql(`INSERT INTO ${namespace}__gone VALUES (), (), ()`);
}

/** Contents of the tables once all is done, whatever happened in between. */
async function expectAfter(namespace: string): Promise<void> {
  const { sql } = world;
  const people = await sql(`SELECT * FROM ${namespace}__people ORDER BY id`);
  expect(people).toMatchObject([
    { id: '1', label: 'a', money: '1', note: 'x', level: 5 },
    { id: '2', label: 'b ', money: '20', note: null, level: 5 },
    { id: '3', label: 'B', money: '-300', note: 'zz', level: 5 },
  ]);
  const codes = people.map(({ code }) => String(code));
  expect(new Set(codes).size).toBe(3);
  for (const code of codes) expect(code).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Object.keys(people[0] ?? {}).sort()).toEqual(['code', 'id', 'label', 'level', 'money', 'note']);
  expect(await sql(`SELECT n, line FROM ${namespace}__lines ORDER BY n`)).toEqual([
    { n: '1', line: 'c' },
    { n: '2', line: 'a' },
    { n: '3', line: 'b' },
  ]);
  expect(await sql(`SELECT x, y FROM ${namespace}__places ORDER BY _id`)).toEqual([
    { x: 1, y: '2' },
    { x: 1, y: '9' },
    { x: 2, y: '1' },
  ]);
  // Generators go on where they were.
  await sql(`INSERT INTO ${namespace}__people (label, money, level, code) VALUES ('new', 0, 0, UUID())`);
  expect(await sql(`SELECT id FROM ${namespace}__people WHERE label = 'new'`)).toEqual([{ id: '5' }]);
  const kept = await sql('SELECT * FROM _quarantine WHERE namespace = ? ORDER BY kind', [namespace]);
  expect(kept).toMatchObject([
    { kind: 'column', table_name: 'people', column_name: 'rank', row_count: '2' },
    { kind: 'table', table_name: 'gone', column_name: null, row_count: '3' },
  ]);
  expect(await sql(`SELECT k0, value FROM ${kept[0]?.physical_name} ORDER BY k0`)).toEqual([
    { k0: '1', value: 3 },
    { k0: '3', value: 7 },
  ]);
  // Nothing lies about that nobody knows of.
  const tables = await sql('SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()');
  const own = tables.map(({ name }) => String(name)).filter((name) => name.includes(`${namespace}__`));
  const wanted = ['lines', 'more', 'people', 'places'].map((name) => `${namespace}__${name}`);
  expect(own.sort()).toEqual([...wanted, ...kept.map((row) => String(row.physical_name))].sort());
}

describe('a sync of every kind of step', () => {
  it('is finished by the next process, wherever one dies', async () => {
    const calls = world.calls();
    const whole = new CrashingSessions(world.url);
    await sync(calls, 'whole', BEFORE);
    await fill('whole');
    await sync(world.calls(whole), 'whole', AFTER);
    await expectAfter('whole');
    const deaths = deathsOf(whole);
    expect(deaths.length).toBeGreaterThan(25);
    await inParallel(deaths, async (at) => {
      const namespace = `n${at}`;
      await sync(calls, namespace, BEFORE);
      await fill(namespace);
      const dying = new CrashingSessions(world.url, at);
      await expect(sync(world.calls(dying), namespace, AFTER)).rejects.toThrow();
      expect(dying.hasCrashed).toBe(true);
      await sync(calls, namespace, AFTER);
      await expectAfter(namespace);
    });
  }, 120_000);
});
