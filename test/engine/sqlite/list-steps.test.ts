import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { FindQuery, TableTarget } from '#engine/rows.ts';
import type { Filter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { testFolder } from '#support/test-folder.ts';
import '#support/test-seed.ts';
import { openSqlite, within } from './world.ts';

const ROWS = 900;
/** `short` is read at once, `long` in steps of sixteen rows and more. */
const COLUMNS = [
  { name: 'id', type: 'int32' },
  { name: 'owner', type: 'int32' },
  { name: 'place', type: 'string', length: 10, nullable: true },
];
const INDEXES = [
  { name: 'by_owner', columns: ['owner'] },
  { name: 'by_owner_place', columns: ['owner', 'place'] },
];
const DECLARATION = JSON.stringify({
  tables: [
    { name: 'short', primaryKey: ['id'], columns: COLUMNS, indexes: INDEXES },
    { name: 'long', primaryKey: ['id'], columns: [...COLUMNS, { name: 'note', type: 'text' }], indexes: INDEXES },
  ],
});

let engine: Engine;
let targets: readonly TableTarget[] = [];

beforeAll(async () => {
  const file = join(testFolder(), 'lists.sqlite');
  ({ engine } = await openSqlite(file));
  const { schema } = parseSchema(parseJson(DECLARATION));
  const steps = schema.tables.map((table) => ({ kind: 'createTable', table }) as const);
  const change = { namespace: 'game', from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within(5000));
  targets = schema.tables.map((table) => ({ namespace: 'game', revision: 1, table }));
  const db = new SQLite(file);
  const short = db.prepare('INSERT INTO game__short VALUES (?, ?, ?)');
  const long = db.prepare('INSERT INTO game__long VALUES (?, ?, ?, ?)');
  for (let id = 1; id <= ROWS; id += 1) {
    const row = [id, id % 3, ['a', 'b', null][id % 7]];
    short.run(...row);
    long.run(...row, 'x'.repeat(id % 50 === 0 ? 20_000 : id % 90));
  }
  db.close();
});

afterAll(() => engine.close());

const condition = fc.oneof(
  fc.record({ name: fc.constantFrom('owner'), op: fc.constantFrom('eq' as const), value: fc.nat(3) }),
  fc.record({
    name: fc.constantFrom('id', 'owner'),
    op: fc.constantFrom('eq' as const, 'gt' as const, 'lte' as const, 'ne' as const),
    value: fc.nat(ROWS),
  }),
  fc.record({
    name: fc.constant('place'),
    op: fc.constantFrom('eq' as const, 'gte' as const),
    value: fc.constantFrom('a', 'b'),
  }),
);
const question = fc.record({
  table: fc.constantFrom(0, 1),
  conditions: fc.array(condition, { maxLength: 3 }),
  sort: fc.uniqueArray(
    fc.record({
      column: fc.constantFrom('id', 'owner', 'place'),
      dir: fc.constantFrom('asc' as const, 'desc' as const),
    }),
    { selector: ({ column }) => column, maxLength: 2 },
  ),
  limit: fc.constantFrom(0, 1, 15, 16, 17, 40, 1000),
  offset: fc.constantFrom(0, 1, 20, 1001),
  maxBytes: fc.constantFrom(200, 30_000, 8_000_000),
});

it('lists with and without an index, in steps and row by row, are the same', async () => {
  await fc.assert(
    fc.asyncProperty(question, async ({ table, conditions, sort, limit, offset, maxBytes }) => {
      const target = targets[table] as TableTarget;
      const columnOf = (name: string) => {
        const column = target.table.columns.find((candidate) => candidate.name === name);
        if (column === undefined) throw new Error(name);
        return column;
      };
      const filters = conditions.map(({ name, op, value }): Filter => {
        return { kind: 'compare', column: columnOf(name), op, value };
      });
      const fields = target.table.columns.map(({ name }) => name);
      const query: Omit<FindQuery, 'filter'> = { fields, sort, limit, offset, maxBytes };
      const filter: Filter | null = filters.length === 0 ? null : { kind: 'and', filters };
      // The same rows, found by a filter that no index takes whole.
      const always: Filter = { kind: 'null', column: columnOf('id'), negated: true };
      const slow: Filter = { kind: 'and', filters: [...filters, always] };
      const page = await engine.find(target, { ...query, filter }, within(10_000));
      expect(page).toEqual(await engine.find(target, { ...query, filter: slow }, within(10_000)));
    }),
    { numRuns: 300 },
  );
});
