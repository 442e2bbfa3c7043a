import { describe, expect, it } from 'vitest';
import { runCopy } from '#sidecar/commands/copy.ts';
import { writeConfig } from '../support/config-folder.ts';
import { copyIo } from '../support/copy-io.ts';
import { expectTables, FRAMEWORKS, type FrameworkTable, wholeRows } from '../support/frameworks.ts';
import { unique } from '../support/sidecar.ts';
import { newDatabase } from '../support/test-database.ts';
import { testFolder } from '../support/test-folder.ts';
import { PATIENT, useSidecar } from './data-world.ts';

const world = useSidecar({ config: PATIENT });

const is = (field: string, value: unknown) => ({ field, op: 'eq', value });

async function declared(tables: readonly FrameworkTable[]) {
  const namespace = unique('game');
  const must = (operation: string, payload: object) => world.client.must(operation, { namespace, ...payload });
  await must('schema.sync', { schema: { tables: tables.map((table) => table.declared) } });
  for (const table of tables) await must('insert', { table: table.declared.name, rows: table.rows });
  return { namespace, must };
}

/** As a script does it: by key, by another column, in order, counted, added up, saved, made if missing, removed. */
async function useTable(must: Awaited<ReturnType<typeof declared>>['must'], table: FrameworkTable): Promise<void> {
  const { name, primaryKey = [], columns } = table.declared;
  const key = primaryKey[0] as string;
  const rows = wholeRows(table);
  const row = rows[0] as Record<string, unknown>;
  const at = { table: name, filter: is(key, row[key]) };
  const others = columns.filter((column) => column.name !== key && column.type !== 'json' && row[column.name] !== null);
  expect((await must('find', { table: name })).rows).toEqual(rows);
  expect((await must('find', { ...at, limit: 1 })).rows).toEqual([row]);
  for (const column of others) {
    const found = (await must('find', { table: name, filter: is(column.name, row[column.name]) })).rows;
    expect(found).toContainEqual(row);
    const counted = { table: name, groupBy: [column.name], values: [{ as: 'number', fn: 'count' }] };
    expect(((await must('aggregate', counted)).rows as object[]).length).toBeGreaterThan(0);
    await must('find', { table: name, sort: [{ field: column.name, dir: 'desc' }], limit: 10 });
  }
  expect(await must('count', at)).toEqual({ count: 1 });
  const saved = (one: Record<string, unknown>) =>
    Object.fromEntries(
      columns.filter((column) => column.name !== key).map((column) => [column.name, one[column.name]]),
    );
  expect(await must('update', { ...at, set: saved(row) })).toEqual({ affected: 1 });
  expect(await must('upsert', { table: name, row, keys: [key] })).toEqual({ affected: 1 });
  const operations = rows.map((one) => ({ op: 'update', table: name, filter: is(key, one[key]), set: saved(one) }));
  const { results } = await must('batch', { atomic: world.sidecar.capabilities.transactions, operations });
  expect(results).toEqual(rows.map(() => ({ affected: 1 })));
  expect((await must('find', { table: name })).rows).toEqual(rows);
  expect(await must('delete', at)).toEqual({ affected: 1 });
  expect(await must('upsert', { table: name, row, keys: [key] })).toEqual({ affected: 1 });
  expect((await must('find', at)).rows).toEqual([row]);
}

describe.each(Object.entries(FRAMEWORKS))('the tables of %s', (_, tables) => {
  it('take the statements of its scripts', async () => {
    const { must } = await declared(tables);
    for (const table of tables) await useTable(must, table);
  });

  it('move to another database of the engine', async () => {
    const { namespace } = await declared(tables);
    const target = await newDatabase();
    const folder = testFolder();
    try {
      const to = writeConfig(folder, {}, target.settings);
      const run = copyIo();
      const args = ['--from', world.sidecar.configFile, '--to', to, '--namespace', namespace];
      expect(await runCopy(args, run.io)).toBe(true);
      await expectTables({ folder, settings: target.settings }, namespace, tables);
    } finally {
      await target.drop();
    }
  });
});
