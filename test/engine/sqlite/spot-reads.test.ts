import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import SQLite from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { FindQuery, Page, TableTarget } from '#engine/rows.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { startSidecar } from '#support/sidecar.ts';
import { testFolder } from '#support/test-folder.ts';
import '#support/test-seed.ts';
import { declareNotes, insertNote, notesWhere, openSqlite, readNotes, within } from './world.ts';

const opened: Engine[] = [];
afterEach(async () => {
  for (const engine of opened.splice(0)) await engine.close();
});

async function open(file: string): Promise<Engine> {
  const { engine } = await openSqlite(file);
  opened.push(engine);
  return engine;
}

const ALL: Omit<FindQuery, 'filter' | 'fields'> = { sort: [], limit: 1000, offset: 0, maxBytes: 1e7 };

function byId(target: TableTarget, id: number): FindQuery {
  return { ...ALL, fields: ['id', 'body'], filter: notesWhere(target, `{"field":"id","op":"eq","value":${id}}`) };
}

const isPage = (page: Page | Promise<Page>): page is Page => !(page instanceof Promise);

/** Columns of every type, found by a key of two columns, a unique column, and a unique index. */
const DECLARATION = JSON.stringify({
  tables: [
    {
      name: 'all',
      primaryKey: ['realm', 'n'],
      columns: [
        { name: 'realm', type: 'string', length: 20 },
        { name: 'n', type: 'int64' },
        { name: 'mail', type: 'string', length: 40, unique: true },
        { name: 'amount', type: 'decimal', precision: 12, scale: 2 },
        { name: 'wide', type: 'decimal', precision: 30, scale: 4, nullable: true },
        { name: 'x', type: 'float64', nullable: true },
        { name: 'on', type: 'bool' },
        { name: 'day', type: 'date' },
        { name: 'at', type: 'datetime' },
        { name: 'token', type: 'uuid' },
        { name: 'raw', type: 'bytes', nullable: true },
        { name: 'doc', type: 'json', nullable: true },
        { name: 'note', type: 'text', nullable: true },
      ],
      indexes: [{ name: 'by_place', columns: ['day', 'amount'], unique: true }],
    },
  ],
});

async function declareAll(engine: Engine): Promise<TableTarget> {
  const { schema } = parseSchema(parseJson(DECLARATION));
  const [table] = schema.tables;
  if (table === undefined) throw new Error('nothing is declared');
  const steps = [{ kind: 'createTable', table } as const];
  const change = { namespace: 'game', from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within(5000));
  const stored = await engine.schemas.readSchema('game', within(5000));
  return { namespace: 'game', revision: stored?.revision ?? 0, table };
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('x'.repeat(65_536), 'é'.repeat(40_000)),
);
const value = (column: string) => {
  switch (column) {
    case 'realm':
    case 'mail':
      return fc.constantFrom('a', 'b', "o'c", 'ä', '"', '');
    case 'n':
      return fc.constantFrom(0n, 1n, -1n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n);
    case 'amount':
      return fc.constantFrom('0', '-0.01', '9999999999.99', '12.5');
    case 'wide':
      return fc.constantFrom(null, '0', '-12345678901234567890123456.7891', '0.0001');
    case 'x':
      return fc.constantFrom(null, 0, -1.5, 5e-324, 1.7976931348623157e308);
    case 'on':
      return fc.boolean();
    case 'day':
      return fc.constantFrom('2024-02-29', '1970-01-01');
    case 'at':
      return fc.constantFrom('2024-02-29T23:59:59.999Z', '1970-01-01T00:00:00.000Z');
    case 'token':
      return fc.constantFrom('00000000-0000-0000-0000-000000000000', '01234567-89ab-cdef-0123-456789abcdef');
    case 'raw':
      return fc.oneof(fc.constant(null), fc.uint8Array({ maxLength: 9 }), fc.constant(new Uint8Array(70_000)));
    case 'doc':
      return fc.constantFrom(null, '{"a":[1,1.50,"\\u0000"]}', 'null', `"${'j'.repeat(65_535)}"`);
    default:
      return fc.option(text);
  }
};

const NAMES = ['realm', 'n', 'mail', 'amount', 'wide', 'x', 'on', 'day', 'at', 'token', 'raw', 'doc', 'note'];
const KEYS = [['realm', 'n'], ['n', 'realm'], ['mail'], ['amount', 'day']];
const row = fc.record(Object.fromEntries(NAMES.map((name) => [name, value(name)])));

it('answers on the spot as the reader does, on rows of every type and size', async () => {
  const engine = await open(join(testFolder(), 'all.sqlite'));
  const target = await declareAll(engine);
  const question = fc.record({
    key: fc.constantFrom(...KEYS),
    asked: row,
    fields: fc.subarray(NAMES, { minLength: 1 }),
    limit: fc.constantFrom(1, 2, 1000),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 4 }),
      fc.array(question, { minLength: 1, maxLength: 6 }),
      async (rows, asked) => {
        for (const values of rows) {
          const insert = { op: 'insert', rows: [new Map(Object.entries(values))] } as const;
          await engine.write(target, insert, null, within(5000)).catch(() => {});
        }
        for (const { key, asked: values, fields, limit } of asked) {
          const filters = key.map((name) => {
            const column = target.table.columns.find((candidate) => candidate.name === name);
            if (column === undefined) throw new Error(name);
            return { kind: 'compare', op: 'eq', column, value: values[name] ?? null } as const;
          });
          const query = { ...ALL, fields, limit, filter: { kind: 'and', filters } } as const;
          const here = await engine.find(target, query, within(5000));
          // A reader answers a filter that is written in any other way.
          const there = engine.find(
            target,
            { ...query, filter: { kind: 'or', filters: [query.filter] } },
            within(5000),
          );
          expect(isPage(there)).toBe(false);
          expect(here).toEqual(await there);
        }
      },
    ),
    { numRuns: 60 },
  );
  expect(engine.stats().spotReads).toBeGreaterThan(0);
});

describe('a find on the spot', () => {
  it('is one of the whole key or a unique index alone', async () => {
    const engine = await open(join(testFolder(), 'game.sqlite'));
    const target = await declareNotes(engine);
    await insertNote(engine, target, 'first');
    const where = (condition: string, more: object = {}) =>
      engine.find(target, { ...byId(target, 1), filter: notesWhere(target, condition), ...more }, within(5000));
    expect(where('{"field":"id","op":"eq","value":1}')).toEqual({ rows: '[{"id":1,"body":"first"}]', hasMore: false });
    expect(where('{"field":"id","op":"eq","value":2}')).toEqual({ rows: '[]', hasMore: false });
    const others = [
      where('{"field":"id","op":"gte","value":1}'),
      where('{"field":"id","op":"in","value":[1]}'),
      where('{"field":"body","op":"eq","value":"first"}'),
      where('{"and":[{"field":"id","op":"eq","value":1},{"field":"body","op":"eq","value":"first"}]}'),
      where('{"and":[{"field":"id","op":"eq","value":1},{"field":"id","op":"eq","value":1}]}'),
      where('{"or":[{"field":"id","op":"eq","value":1}]}'),
      where('{"field":"id","op":"eq","value":1}', { limit: 0 }),
      where('{"field":"id","op":"eq","value":1}', { offset: 1 }),
    ];
    expect(others.map(isPage)).toEqual(others.map(() => false));
    await Promise.all(others);
  });

  it('leaves a row of more than 64 kB to a reader', async () => {
    const engine = await open(join(testFolder(), 'game.sqlite'));
    const target = await declareNotes(engine);
    await insertNote(engine, target, 'x'.repeat(65_536));
    await insertNote(engine, target, 'é'.repeat(32_769));
    expect(isPage(engine.find(target, byId(target, 1), within(5000)))).toBe(true);
    const long = engine.find(target, byId(target, 2), within(5000));
    expect(isPage(long)).toBe(false);
    expect(JSON.parse((await long).rows)).toEqual([{ id: 2, body: 'é'.repeat(32_769) }]);
  });

  it('sees each write that was answered before, of this engine and of another on the same file', async () => {
    const file = join(testFolder(), 'game.sqlite');
    const engine = await open(file);
    const other = await open(file);
    const target = await declareNotes(engine);
    for (let id = 1; id <= 40; id += 1) {
      await insertNote(id % 2 === 0 ? engine : other, target, `note ${id}`);
      const page = await engine.find(target, byId(target, id), within(5000));
      expect(page.rows).toBe(`[{"id":${id},"body":"note ${id}"}]`);
    }
    expect(engine.stats().spotReads).toBeGreaterThan(0);
  });

  it('refuses a schema that has changed meanwhile, as a reader does', async () => {
    const file = join(testFolder(), 'game.sqlite');
    const engine = await open(file);
    const target = await declareNotes(engine);
    await insertNote(engine, target, 'first');
    expect(isPage(engine.find(target, byId(target, 1), within(5000)))).toBe(true);
    const db = new SQLite(file);
    db.exec('UPDATE _schemas SET revision = revision + 1');
    db.close();
    // Finds of one step of the event loop share what they see.
    await setImmediate();
    const refused = Promise.resolve(engine.find(target, byId(target, 1), within(5000)));
    await expect(refused).rejects.toThrow('has changed');
    const now = await readNotes(engine);
    expect(isPage(engine.find(now, byId(now, 1), within(5000)))).toBe(true);
  });

  it('is none after its deadline and after the end', async () => {
    const engine = await open(join(testFolder(), 'game.sqlite'));
    const target = await declareNotes(engine);
    // A reader that starts late would be taken for a disk that does not answer.
    await engine.count(target, null, within(5000));
    const late = Promise.resolve(engine.find(target, byId(target, 1), within(-1)));
    await expect(late).rejects.toMatchObject({ code: 'database_timeout' });
    expect(isPage(engine.find(target, byId(target, 1), within(5000)))).toBe(true);
    await engine.close();
    const { spotReads } = engine.stats();
    void Promise.resolve(engine.find(target, byId(target, 1), within(50))).catch(() => {});
    expect(engine.stats().spotReads).toBe(spotReads);
  });
});

it('finds race with schema changes: each answer fits one of the schemas, and none fails', async () => {
  const sidecar = await startSidecar();
  try {
    const { client } = sidecar;
    const schema = (more: readonly object[]) => ({
      tables: [{ name: 'things', primaryKey: ['id'], columns: [{ name: 'id', type: 'int32' }, ...more] }],
    });
    const extra = { name: 'extra', type: 'text', default: 'new' };
    await client.must('schema.sync', { namespace: 'game', schema: schema([]) });
    await client.must('insert', { namespace: 'game', table: 'things', rows: [{ id: 1 }] });
    let isOver = false;
    const seen = new Set<string>();
    const reading = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const { rows } = await client.must('find', {
          ...{ namespace: 'game', table: 'things' },
          filter: { field: 'id', op: 'eq', value: 1 },
        });
        seen.add(JSON.stringify(rows));
      }
    });
    for (let round = 0; round < 10; round += 1) {
      const columns = round % 2 === 0 ? [extra] : [];
      await client.must('schema.sync', { namespace: 'game', schema: schema(columns) });
    }
    isOver = true;
    await Promise.all(reading);
    for (const rows of seen) expect(['[{"id":1}]', '[{"id":1,"extra":"new"}]']).toContain(rows);
  } finally {
    await sidecar.stop();
  }
});
