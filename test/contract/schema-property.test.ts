import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectedOf, type ModelRow, type ModelTable, Random } from '../support/schema-model.ts';
import { startSidecar, type TestSidecar, unique } from '../support/sidecar.ts';
import { PATIENT } from './data-world.ts';

const RUNS = 20;
const CHANGES = 3;

let sidecar: TestSidecar;

beforeAll(async () => {
  sidecar = await startSidecar({ config: PATIENT });
});

afterAll(async () => {
  await sidecar.stop();
});

class Space {
  readonly namespace = unique('p');

  call(operation: string, payload: object = {}) {
    return sidecar.client.call(operation, { namespace: this.namespace, ...payload });
  }

  sync(tables: readonly ModelTable[], dryRun = false) {
    return this.call('schema.sync', { schema: { tables }, dryRun });
  }

  async state(tables: readonly ModelTable[]) {
    const rows = new Map<string, ModelRow[]>();
    for (const { name } of tables) rows.set(name, (await this.call('find', { table: name })).result.rows as ModelRow[]);
    return { described: (await this.call('schema.describe')).result, rows };
  }
}

function withoutRenames(tables: readonly ModelTable[]): ModelTable[] {
  return tables.map(({ renamedFrom: _, ...table }) => ({
    ...table,
    columns: table.columns.map(({ renamedFrom: __, ...column }) => column),
  }));
}

function inAnyOrder(rows: readonly ModelRow[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
}

/** Ids that the sync has generated are new, and different from each other. */
function compareRows(table: ModelTable, isOrdered: boolean, got: readonly ModelRow[], wanted: readonly ModelRow[]) {
  const generated = table.columns.find(
    (column) => column.autoIncrement && !Object.hasOwn(wanted[0] ?? {}, column.name),
  );
  const bare = generated === undefined ? got : got.map(({ [generated.name]: _, ...row }) => row);
  if (isOrdered) expect(bare).toEqual(wanted);
  else expect(inAnyOrder(bare)).toEqual(inAnyOrder(wanted));
  if (generated !== undefined) expect(new Set(got.map((row) => row[generated.name])).size).toBe(got.length);
}

/** Structure and behaviour are those of the declared schema made afresh. */
async function compareWithFresh(space: Space, tables: readonly ModelTable[], random: Random): Promise<void> {
  const fresh = new Space();
  expect((await fresh.sync(tables)).status).toBe(200);
  const old = await space.state(tables);
  const { described } = await fresh.state(tables);
  expect(old.described).toMatchObject({ hash: described.hash, schema: described.schema });
  for (const table of tables) {
    const rows = old.rows.get(table.name) ?? [];
    if (rows.length > 0) {
      expect((await fresh.call('insert', { table: table.name, rows })).status).toBe(200);
    }
    for (const row of [random.row(table), random.row(table)]) {
      const insert = { table: table.name, rows: [row] };
      expect((await space.call('insert', insert)).code).toBe((await fresh.call('insert', insert)).code);
    }
    expect((await space.call('count', { table: table.name })).result).toEqual(
      (await fresh.call('count', { table: table.name })).result,
    );
  }
}

it('a random schema with random rows becomes any other one, or stays as it is', async () => {
  const answers = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (g) => {
      const random = new Random(g);
      const space = new Space();
      let stored = random.tables.slice(0, 2).map((name) => random.table(name));
      expect((await space.sync(stored)).status).toBe(200);
      for (let change = 0; change < CHANGES; change += 1) {
        for (const table of stored) {
          for (let i = 0; i < 4; i += 1) await space.call('insert', { table: table.name, rows: [random.row(table)] });
        }
        const before = await space.state(stored);
        const declared = random.changed(stored);
        const expected = expectedOf(stored, before.rows, declared);
        const planned = await space.sync(declared, true);
        expect(await space.state(stored)).toEqual(before);
        const answer = await space.sync(declared);
        expect(answer.code).toBe(planned.code);
        if (answer.result.status !== 'unchanged') expect(answer.code).toBe(expected.code);
        answers.set(answer.code, (answers.get(answer.code) ?? 0) + 1);
        if (answer.code !== '') {
          expect(await space.state(stored)).toEqual(before);
          continue;
        }
        expect(answer.result.plan).toEqual(planned.result.plan);
        const tables = withoutRenames(declared);
        const after = await space.state(tables);
        for (const [i, table] of tables.entries()) {
          const source = stored.find(({ name }) => name === table.name || name === declared[i]?.renamedFrom);
          const isOrdered = table.primaryKey === undefined && source?.primaryKey === undefined;
          compareRows(table, isOrdered, after.rows.get(table.name) ?? [], expected.rows.get(table.name) ?? []);
        }
        await compareWithFresh(space, tables, random);
        stored = tables;
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  // Every kind of answer was tried, so that agreement means something.
  for (const code of ['', 'unsupported_change', 'data_does_not_fit']) expect(answers.get(code)).toBeGreaterThan(1);
}, 300_000);
