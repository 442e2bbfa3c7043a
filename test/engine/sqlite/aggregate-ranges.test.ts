import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Engine } from '#engine/engine.ts';
import type { AggregateQuery, TableTarget } from '#engine/rows.ts';
import type { Column } from '#protocol/columns.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema, schemaHash } from '#protocol/schema.ts';
import { testFolder } from '#support/test-folder.ts';
import '#support/test-seed.ts';
import { openSqlite, within } from './world.ts';

/** More than a few ranges. */
const ROWS = 40_000;
const DECLARATION = JSON.stringify({
  tables: [
    {
      name: 'ledger',
      primaryKey: ['id'],
      columns: [
        { name: 'id', type: 'int64' },
        { name: 'grp', type: 'int32', nullable: true },
        { name: 'place', type: 'string', length: 20, nullable: true },
        { name: 'open', type: 'bool' },
        { name: 'x', type: 'float64', nullable: true },
        { name: 'amount', type: 'int64', nullable: true },
        { name: 'price', type: 'decimal', precision: 18, scale: 4 },
        { name: 'wide', type: 'decimal', precision: 30, scale: 2, nullable: true },
      ],
    },
  ],
});

let engine: Engine;
let file = '';
let target: TableTarget;

beforeAll(async () => {
  file = join(testFolder(), 'ledger.sqlite');
  ({ engine } = await openSqlite(file));
  const { schema } = parseSchema(parseJson(DECLARATION));
  const [table] = schema.tables;
  if (table === undefined) throw new Error('nothing is declared');
  const steps = [{ kind: 'createTable', table } as const];
  const change = { namespace: 'game', from: null, to: schema, hash: schemaHash(schema), steps, dryRun: false, now: 0 };
  await engine.schemas.applySchema(change, within(5000));
  target = { namespace: 'game', revision: 1, table };
});

afterAll(() => engine.close());

/** Ids with gaps of all sizes, from the lowest to the highest. */
function fill(): void {
  const db = new SQLite(file);
  const insert = db.prepare('INSERT INTO game__ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const places = [null, 'ä', 'z', '\u{1F600}', '\uFFFD', ''];
  db.transaction(() => {
    for (let n = 0; n < ROWS; n += 1) {
      const id =
        n === 0 ? -(2n ** 63n) : n === ROWS - 1 ? 2n ** 63n - 1n : BigInt(n) * (n < 1000 ? 2n ** 40n : 7n) - 999n;
      const grp = n % 11 === 0 ? null : (n * 7919) % 37;
      const wide = String(10n ** 30n + BigInt(n)).padStart(31, '0');
      insert.run(id, grp, places[n % 6], n % 2, n / 8, n % 5 === 0 ? null : BigInt(n) * 10n ** 12n, n * 3, wide);
    }
  })();
  db.close();
}

const named = (name: string): Column => {
  const column = target.table.columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw new Error(name);
  return column;
};

const question = fc
  .record({
    groups: fc.subarray(['grp', 'place', 'open', 'x'], { maxLength: 3 }),
    values: fc.uniqueArray(
      fc.oneof(
        fc.record({ fn: fc.constant('count' as const), field: fc.constantFrom(null, 'amount', 'place') }),
        fc.record({ fn: fc.constant('sum' as const), field: fc.constantFrom('amount', 'price', 'grp', 'x', 'wide') }),
        fc.record({
          fn: fc.constantFrom('min' as const, 'max' as const),
          field: fc.constantFrom('amount', 'price', 'place', 'open', 'x', 'wide', 'id'),
        }),
        fc.record({ fn: fc.constant('countDistinct' as const), field: fc.constantFrom('grp', 'place') }),
      ),
      { maxLength: 4, selector: ({ fn, field }) => `${fn} ${field}` },
    ),
    order: fc.array(fc.record({ output: fc.nat(6), dir: fc.constantFrom('asc' as const, 'desc' as const) })),
    limit: fc.constantFrom<number>(1, 5, 1000),
    offset: fc.constantFrom<number>(0, 3),
  })
  .filter(({ groups, values }) => groups.length + values.length > 0);

function queryOf({ groups, values, order, limit, offset }: typeof question extends fc.Arbitrary<infer T> ? T : never) {
  const count = groups.length + values.length;
  const keys = [...order, ...groups.map((_, output) => ({ output, dir: 'asc' as const }))];
  const sort = keys.filter(({ output }, i) => output < count && keys.findIndex((key) => key.output === output) === i);
  return {
    groupBy: groups.map(named),
    values: values.map(({ fn, field }, i) => ({ as: `v${i}`, fn, column: field === null ? null : named(field) })),
    ...{ sort, limit, offset, maxBytes: 1e6 },
  };
}

/** A filter that all rows pass is computed by one statement. */
const whole = { kind: 'null', column: { name: 'id' } as Column, negated: true } as const;
const both = async (query: Omit<AggregateQuery, 'filter'>) => [
  await engine.aggregate(target, { ...query, filter: null }, within(60_000)),
  await engine.aggregate(target, { ...query, filter: whole }, within(60_000)),
];

it('of an empty table is that of one statement', async () => {
  for (const groups of [[], ['grp']] as const) {
    const values = [{ fn: 'count', field: null } as const, { fn: 'sum', field: 'amount' } as const];
    const [ranges, one] = await both(queryOf({ groups: [...groups], values, order: [], limit: 10, offset: 0 }));
    expect(ranges).toEqual(one);
  }
});

it('of many ranges is that of one statement: groups, values, order, page', async () => {
  fill();
  await fc.assert(
    fc.asyncProperty(question, async (asked) => {
      const [ranges, one] = await both(queryOf(asked));
      expect(ranges).toEqual(one);
    }),
    { numRuns: 20 },
  );
}, 120_000);

it('sums past 64 bits are exact, and many groups are answered', async () => {
  const db = new SQLite(file);
  db.exec('UPDATE game__ledger SET amount = 9223372036854775807 WHERE grp = 1');
  db.close();
  for (const groups of [[], ['grp'], ['x']]) {
    const values = [{ fn: 'sum', field: 'amount' } as const, { fn: 'count', field: null } as const];
    const [ranges, one] = await both(queryOf({ groups, values, order: [], limit: 1000, offset: 0 }));
    expect(ranges).toEqual(one);
  }
});

it('ends at its deadline', async () => {
  const values = [{ fn: 'sum', field: 'price' } as const];
  const query = queryOf({ groups: ['grp'], values, order: [], limit: 10, offset: 0 });
  const late = engine.aggregate(target, { ...query, filter: null }, within(1));
  await expect(late).rejects.toMatchObject({ code: 'database_timeout' });
});
