import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import { openEngine } from '#engine/open.ts';
import type { CommandIo } from '#sidecar/commands/command-process.ts';
import { runQuarantine } from '#sidecar/commands/quarantine.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { startSidecar, type TestSidecar, unique } from '../support/sidecar.ts';
import { expectCountedOn } from './data-world.ts';

let sidecar: TestSidecar;
/** A second program on the same database. */
let beside: Engine;

beforeAll(async () => {
  sidecar = await startSidecar();
  const { database } = loadConfig(sidecar.configFile, {});
  beside = await openEngine({ ...database, poolSize: 2 }, { log: () => {}, now: Date.now });
});

afterAll(async () => {
  await beside.close();
  await sidecar.stop();
});

/** Runs the command beside the running sidecar, as its owner would. */
async function quarantine(args: string[], { isForPeople = false } = {}) {
  const out: string[] = [];
  const errors: string[] = [];
  const io: CommandIo = { print: (line) => out.push(line), printError: (line) => errors.push(line), isForPeople };
  const isDone = await runQuarantine(args, loadConfig(sidecar.configFile, {}), io);
  return { isDone, out, errors };
}

interface Listed {
  id: number;
  namespace: string;
  kind: string;
  table: string;
  column: string | null;
  rows: number;
}

async function listed(namespace: string): Promise<Listed[]> {
  const objects = await beside.schemas.listQuarantine(namespace, { deadline: performance.now() + 10_000 });
  return objects.map((object) => ({ ...object }));
}

async function restore(namespace: string, column: string | null = null) {
  const found = (await listed(namespace)).find((object) => object.column === column);
  return quarantine(['restore', String(found?.id)]);
}

function namespaceOf() {
  const namespace = unique('q');
  const call = (operation: string, payload: object) => sidecar.client.call(operation, { namespace, ...payload });
  return {
    namespace,
    call,
    async sync(...tables: object[]) {
      const answer = await call('schema.sync', { schema: { tables } });
      expect(answer).toMatchObject({ status: 200 });
      return answer;
    },
    insert: (table: string, ...rows: object[]) => call('insert', { table, rows }),
    rows: async (table: string) => (await call('find', { table })).result.rows,
    schema: async () => (await call('schema.describe', {})).result,
  };
}

const ID = { name: 'id', type: 'int64' };
const NAME = { name: 'name', type: 'string', length: 20, unique: true };
const table = (...columns: object[]) => ({ name: 't', primaryKey: ['id'], columns: [ID, ...columns] });
const counted = {
  ...table(NAME),
  columns: [{ ...ID, autoIncrement: true }, NAME],
  indexes: [{ name: 'i', columns: ['name', 'id'] }],
};

describe('a table in quarantine', () => {
  it('is listed, comes back with rows, indexes, generator and hash, and is served at once', async () => {
    const game = namespaceOf();
    const { result } = await game.sync(counted);
    const inserted = (await game.insert('t', { name: 'a' }, { name: 'b' })).result as { ids: [number, number] };
    const [first, second] = inserted.ids;
    await game.sync();
    expect(await listed(game.namespace)).toEqual([
      {
        id: expect.any(Number),
        namespace: game.namespace,
        kind: 'table',
        table: 't',
        column: null,
        rows: 2,
        quarantinedAt: expect.stringMatching(/Z$/),
      },
    ]);
    expect(await restore(game.namespace)).toEqual({
      isDone: true,
      out: [`restored table ${game.namespace}.t with 2 rows`],
      errors: [],
    });
    expect(await game.rows('t')).toEqual([
      { id: first, name: 'a' },
      { id: second, name: 'b' },
    ]);
    expect((await game.schema()).hash).toBe(result.hash);
    expect((await game.insert('t', { name: 'a' })).code).toBe('constraint_violation');
    // An insert that failed may have used an id.
    const { ids } = (await game.insert('t', { name: 'c' })).result as { ids: number[] };
    expect(inserted.ids).not.toContain(ids[0]);
    expect(await listed(game.namespace)).toEqual([]);
  });

  it('stays where its name is taken, and its ids are never given again', async () => {
    const game = namespaceOf();
    await game.sync(counted);
    const idOf = async (name: string) => ((await game.insert('t', { name })).result.ids as [number])[0];
    const first = await idOf('a');
    await game.sync();
    await game.sync(counted);
    const second = await idOf('a');
    expectCountedOn(second, first);
    const { isDone, errors } = await restore(game.namespace);
    expect(isDone).toBe(false);
    expect(errors).toEqual([expect.stringContaining('a table t is declared; rename or remove it first')]);
    await game.sync({ ...counted, name: 'u', renamedFrom: 't' });
    expect((await restore(game.namespace)).isDone).toBe(true);
    expectCountedOn(await idOf('b'), first, second);
  });
});

describe('a column in quarantine', () => {
  it('gives its values back to their rows, through renames, with its uniqueness', async () => {
    const game = namespaceOf();
    await game.sync(table({ ...NAME, nullable: true }));
    await game.insert('t', { id: 1, name: 'a' }, { id: 2, name: null }, { id: 3, name: 'c' });
    await game.sync(table());
    expect(await listed(game.namespace)).toMatchObject([{ kind: 'column', table: 't', column: 'name', rows: 2 }]);
    await game.call('delete', { table: 't', filter: { field: 'id', op: 'eq', value: 1 } });
    await game.insert('t', { id: 4 });
    const renamed = { name: 'u', primaryKey: ['key'], columns: [{ ...ID, name: 'key' }] };
    await game.sync({ ...renamed, renamedFrom: 't', columns: [{ ...ID, name: 'key', renamedFrom: 'id' }] });
    expect((await restore(game.namespace, 'name')).out).toEqual([
      `restored column ${game.namespace}.u.name with 2 rows`,
    ]);
    expect(await game.rows('u')).toEqual([
      { key: 2, name: null },
      { key: 3, name: 'c' },
      { key: 4, name: null },
    ]);
    expect((await game.insert('u', { key: 5, name: 'c' })).code).toBe('constraint_violation');
  });

  it('knows rows without key by their place', async () => {
    const game = namespaceOf();
    const keyless = (...columns: object[]) => ({ name: 't', columns: [{ name: 'n', type: 'int32' }, ...columns] });
    await game.sync(keyless({ name: 'money', type: 'decimal', precision: 30, scale: 2, default: 5 }));
    await game.insert('t', { n: 1, money: '-1.25' }, { n: 1, money: 2 });
    await game.sync(keyless());
    await game.insert('t', { n: 1 });
    await game.sync({ ...keyless(), columns: [{ name: 'n', type: 'decimal' }] });
    expect((await restore(game.namespace, 'money')).isDone).toBe(true);
    expect(await game.rows('t')).toEqual([
      { n: 1, money: -1.25 },
      { n: 1, money: 2 },
      { n: 1, money: 5 },
    ]);
    const columns = (await game.schema()) as { schema: { tables: { columns: object[] }[] } };
    expect(columns.schema.tables[0]?.columns[1]).toMatchObject({ name: 'money', nullable: false, default: 5 });
  });

  it('comes back nullable where newer rows have nothing for it', async () => {
    const game = namespaceOf();
    await game.sync(table(NAME));
    await game.insert('t', { id: 1, name: 'a' });
    await game.sync(table());
    await game.insert('t', { id: 2 });
    const { out } = await restore(game.namespace, 'name');
    expect(out).toEqual([expect.stringContaining('it is nullable now, because 1 newer row has no value for it')]);
    expect(await game.rows('t')).toEqual([
      { id: 1, name: 'a' },
      { id: 2, name: null },
    ]);
  });

  it.each([
    ['the name is taken', [table({ name: 'name', type: 'int32', nullable: true })], 'the table has a column name'],
    ['the table is gone', [], 'its table t is no longer there'],
    ['another table has the name', [[], [table()]], 'its table t is no longer there'],
    ['the key is another', [{ ...table(), primaryKey: undefined }], 'the primary key of t has changed since'],
    [
      'the key went and came back',
      [[{ ...table(), primaryKey: undefined }], [table()]],
      'the primary key of t has changed since',
    ],
    [
      'the key is kept in another form',
      [{ ...table(), columns: [{ ...ID, type: 'decimal', scale: 2 }] }],
      'the primary key of t has changed since',
    ],
  ])('stays where %s', async (_, steps, reason) => {
    const game = namespaceOf();
    await game.sync(table(NAME));
    await game.insert('t', { id: 1, name: 'a' });
    await game.sync(table());
    for (const step of steps.some(Array.isArray) ? (steps as object[][]) : [steps as object[]])
      await game.sync(...step);
    const before = await game.schema();
    const { isDone, errors } = await restore(game.namespace, 'name');
    expect({ isDone, errors }).toEqual({ isDone: false, errors: [expect.stringContaining(reason)] });
    expect(await game.schema()).toEqual(before);
    expect((await listed(game.namespace)).some((object) => object.column === 'name')).toBe(true);
  });

  it('follows its table into quarantine and back', async () => {
    const game = namespaceOf();
    await game.sync(table(NAME));
    await game.insert('t', { id: 1, name: 'a' });
    await game.sync(table());
    await game.sync();
    expect((await restore(game.namespace, 'name')).isDone).toBe(false);
    const ids = (await listed(game.namespace)).map((object) => String(object.id));
    expect(await quarantine(['restore', ...ids])).toMatchObject({ isDone: true, errors: [] });
    expect(await game.rows('t')).toEqual([{ id: 1, name: 'a' }]);
  });
});

describe('the command', () => {
  it('lists one JSON object a line', async () => {
    const game = namespaceOf();
    await game.sync(table(NAME));
    await game.sync();
    const { out } = await quarantine(['list']);
    const objects = out.map((line) => JSON.parse(line) as Listed);
    expect(objects.filter((object) => object.namespace === game.namespace)).toEqual(await listed(game.namespace));
  });

  it('prints lines for people', async () => {
    const game = namespaceOf();
    await game.sync(table(NAME));
    await game.sync(table());
    await game.sync();
    const { out } = await quarantine(['list'], { isForPeople: true });
    expect(out[0]).toMatch(/^ID +KIND +NAME +ROWS +SINCE$/);
    const ownLines = out.filter((line) => line.includes(`${game.namespace}.`));
    expect(ownLines).toHaveLength(2);
    for (const line of ownLines) expect(line.indexOf(game.namespace)).toBe(out[0]?.indexOf('NAME'));
  });

  it('deletes for good, only what is named', async () => {
    const game = namespaceOf();
    await game.sync({ ...table(NAME), name: 'a' }, { ...table(), name: 'b' });
    await game.sync();
    const [first, second] = await listed(game.namespace);
    const answer = await quarantine(['purge', String(first?.id)]);
    expect(answer.out).toEqual([`deleted table ${game.namespace}.a with 0 rows`]);
    expect(await listed(game.namespace)).toEqual([second]);
    const again = await quarantine(['purge', String(first?.id), String(second?.id)]);
    expect(again.isDone).toBe(false);
    expect(again.errors).toEqual([`nothing in quarantine has the ID ${first?.id}`]);
    expect(await listed(game.namespace)).toEqual([]);
  });

  it('means all without an ID', async () => {
    const game = namespaceOf();
    await game.sync(table(NAME));
    await game.sync();
    expect((await quarantine(['purge'])).isDone).toBe(true);
    expect(await listed(game.namespace)).toEqual([]);
    expect((await quarantine(['purge'])).out).toEqual(['the quarantine is empty']);
    expect((await quarantine(['list'], { isForPeople: true })).out).toEqual(['the quarantine is empty']);
  });

  it.each([[[]], [['show']], [['list', '1']], [['restore', 'x']], [['restore', '0']], [['purge', '-1']]])(
    'refuses %j before it does anything',
    async (args) => {
      await expect(quarantine(args)).rejects.toThrow(/expected|takes no ID|is not an ID/);
    },
  );
});
