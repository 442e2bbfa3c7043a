import fc from 'fast-check';
import { expect, it } from 'vitest';
import { quoted } from '#engine/mysql/dialect.ts';
import { ApiError } from '#protocol/errors.ts';
import { type ModelRow, type ModelTable, Random } from '#support/schema-model.ts';
import { CrashingSessions, deathsOf, type SchemaWorld, schemaWorld, sync, within } from './schema-world.ts';

const RUNS = 12;
const ROWS = 3;
/** Errors of a row that repeats another, or whose value from the model's pool is too large for its column. */
const NOT_TAKEN = new Set([1062, 1264, 1265, 1292]);

/** A value of the model in the words of MySQL. */
function toSql(type: string | undefined, value: unknown): unknown {
  if (value === null) return null;
  switch (type) {
    case 'bool':
      return Number(value);
    case 'json':
      return JSON.stringify(value);
    case 'datetime':
      return String(value).slice(0, -1).replace('T', ' ');
    case 'bytes':
      return Buffer.from(String(value), 'base64');
    default:
      return value;
  }
}

async function put({ sql }: SchemaWorld, namespace: string, table: ModelTable, row: ModelRow): Promise<void> {
  const names = Object.keys(row);
  const values = names.map((name) => toSql(table.columns.find((column) => column.name === name)?.type, row[name]));
  const into = `${namespace}__${table.name} (${names.map(quoted).join()})`;
  try {
    await sql(`INSERT INTO ${into} VALUES (${names.map(() => '?').join()})`, values);
  } catch (error) {
    if (!NOT_TAKEN.has((error as { errno: number }).errno)) throw error;
  }
}

/** All that a namespace has in the database, without what tells it from another one with the same past. */
async function everything({ sql }: SchemaWorld, namespace: string): Promise<Record<string, unknown>> {
  const neutral = (text: unknown) =>
    String(text)
      .replaceAll(/\b_q\d+_/g, '_q_')
      .replaceAll(`${namespace}__`, '');
  const found: Record<string, unknown> = {};
  const tables = await sql(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = DATABASE() AND (table_name LIKE ? OR table_name LIKE ?)`,
    [`${namespace}\\_\\_%`, `\\_q%\\_${namespace}\\_\\_%`],
  );
  for (const { name } of tables) {
    const [made] = await sql(`SHOW CREATE TABLE ${String(name)}`);
    const [columns = ''] = neutral(made?.['Create Table']).split('\n) ENGINE');
    const lines = columns.split('\n').map((line) => line.replace(/,$/, ''));
    found[neutral(name)] = { lines: lines.sort(), rows: await sql(`SELECT * FROM ${String(name)}`) };
  }
  const kept = await sql(
    `SELECT kind, table_name, column_name, row_count, definition FROM _quarantine WHERE namespace = ?
     ORDER BY kind, table_name, column_name`,
    [namespace],
  );
  found.kept = kept.map((row) => ({ ...row, definition: String(row.definition).replace(/"goneWith":\d+/, '') }));
  // Not the revision: a change that is refused leaves it raised, and one that is tried twice is refused twice.
  found.stored = await sql('SELECT hash, pending FROM _schemas WHERE namespace = ?', [namespace]);
  found.ids = await sql('SELECT table_name, last_id FROM _generators WHERE namespace = ? ORDER BY 1', [namespace]);
  return found;
}

/** The code of the refusal, '' without one. What is no refusal is thrown. */
async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return '';
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

it('any change comes to the same end, whether a process dies in it or not', async () => {
  const world = await schemaWorld();
  let run = 0;
  let repaired = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (g) => {
        const random = new Random(g);
        run += 1;
        const [whole, broken] = [`whole${run}`, `broken${run}`];
        const before = ['t1', 't2'].map((name) => random.table(name));
        for (const namespace of [whole, broken]) await sync(world.calls(), namespace, { tables: before });
        for (const table of before) {
          for (let i = 0; i < ROWS; i += 1) {
            const row = random.row(table);
            for (const namespace of [whole, broken]) await put(world, namespace, table, row);
          }
        }
        const after = { tables: random.changed(before) };
        const sessions = new CrashingSessions(world.url);
        const code = await codeOf(sync(world.calls(sessions), whole, after));
        const deaths = deathsOf(sessions);
        const crashAt = deaths[g(fc.nat, { max: Math.max(0, deaths.length - 1) })];
        await sync(world.calls(new CrashingSessions(world.url, crashAt)), broken, after).catch(() => {});
        const [row] = await world.sql('SELECT pending IS NULL AS isWhole FROM _schemas WHERE namespace = ?', [broken]);
        if (row?.isWhole === 0) repaired += 1;
        await world.calls().readSchema(broken, within(20_000));
        expect(await codeOf(sync(world.calls(), broken, after))).toBe(code);
        expect(await everything(world, broken)).toEqual(await everything(world, whole));
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    expect(repaired).toBeGreaterThan(0);
  } finally {
    await world.drop();
  }
}, 60_000);
