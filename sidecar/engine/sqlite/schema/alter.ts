import { fillOf } from '#engine/model/column-change.ts';
import { indexText, type PhysicalIndex, physicalIndexes } from '#engine/model/physical-indexes.ts';
import { changesKey, type TableTransition } from '#engine/model/table-transition.ts';
import type { ChangeConnection } from '#engine/sql/schema/connection.ts';
import { dropIndex, raiseRemembered, rememberGenerator } from '#engine/sql/schema/tables.ts';
import type { Column } from '#protocol/columns.ts';
import { isSameStorage, physicalTable, quoted, toPhysical } from '../dialect.ts';
import { columnSql, createIndexSql, renameTableSql } from './ddl.ts';
import { rebuildTable } from './rebuild.ts';

/** Brings a table that stays, and whose rows are known to fit, to its declared form. */
export async function changeTable(
  connection: ChangeConnection,
  namespace: string,
  change: TableTransition,
  now: number,
): Promise<void> {
  const { from, to } = change;
  const physical = physicalTable(namespace, to.name);
  await rememberGenerator(connection, namespace, from);
  if (from.name !== to.name) {
    await connection.run(renameTableSql(physicalTable(namespace, from.name), physical));
    await rememberGenerator(connection, namespace, { ...from, name: to.name });
  }
  const wanted = physicalIndexes(physical, to);
  if (needsRebuild(change)) {
    await rebuildTable(connection, namespace, physical, change, now);
  } else {
    await dropIndexes(connection, physical, wanted, change);
    await alterTable(connection, physical, change, now);
    await raiseRemembered(connection, namespace, to);
  }
  const made = new Set((await madeIndexes(connection, physical)).map(indexText));
  for (const index of wanted) {
    if (!made.has(indexText(index))) await connection.run(createIndexSql(physical, index));
  }
}

/** Column names that `CREATE TABLE` takes and `ALTER TABLE` refuses: they name SQLite's own row id. */
const ROW_ID_NAMES: ReadonlySet<string> = new Set(['rowid', 'oid']);

/** Changes that SQLite's `ALTER TABLE` cannot do: keys, other values on disk, NOT NULL, other names for some columns. */
function needsRebuild(change: TableTransition): boolean {
  if (changesKey(change)) return true;
  const { to, sources, removed } = change;
  if (removed.some(isRowIdName)) return true;
  return to.columns.some((column) => {
    const source = sources.get(column.name);
    if (source?.name !== column.name && [source, column].some(isRowIdName)) return true;
    if (source === undefined) return !column.nullable;
    return source.nullable !== column.nullable || !isSameStorage(source, column);
  });
}

function isRowIdName(column: Column | undefined): boolean {
  return column !== undefined && ROW_ID_NAMES.has(column.name);
}

async function alterTable(
  connection: ChangeConnection,
  physical: string,
  { to, sources, removed }: TableTransition,
  now: number,
): Promise<void> {
  const table = quoted(physical);
  for (const column of removed) {
    await connection.run(`ALTER TABLE ${table} DROP COLUMN ${quoted(column.name)}`);
  }
  for (const column of to.columns) {
    const source = sources.get(column.name);
    if (source !== undefined && source.name !== column.name) {
      await connection.run(`ALTER TABLE ${table} RENAME COLUMN ${quoted(source.name)} TO ${quoted(column.name)}`);
    }
  }
  for (const column of to.columns.filter(({ name }) => !sources.has(name))) {
    const name = quoted(column.name);
    await connection.run(`ALTER TABLE ${table} ADD COLUMN ${columnSql(column)}`);
    const fill = fillOf(column, now);
    if (fill.kind === 'random') {
      await connection.run(`UPDATE ${table} SET ${name} = ${connection.dialect.randomSql}`);
    } else if (fill.kind === 'constant' && fill.value !== null) {
      await connection.run(`UPDATE ${table} SET ${name} = ?`, [toPhysical(column, fill.value)]);
    }
  }
}

/** Before columns change: drops indexes that the declared table does not have. Renamed columns keep theirs. */
async function dropIndexes(
  connection: ChangeConnection,
  physical: string,
  wanted: readonly PhysicalIndex[],
  { sources }: TableTransition,
): Promise<void> {
  const staying = new Set(
    wanted.map((index) =>
      indexText({ ...index, columns: index.columns.map((name) => sources.get(name)?.name ?? name) }),
    ),
  );
  for (const index of await madeIndexes(connection, physical)) {
    if (!staying.has(indexText(index))) await dropIndex(connection, index.name);
  }
}

/** Indexes made by `CREATE INDEX`, without the one that SQLite makes for a key. */
async function madeIndexes(connection: ChangeConnection, physical: string): Promise<PhysicalIndex[]> {
  const rows = await connection.rows(
    `SELECT list.name, list."unique", info.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
     WHERE list.origin = 'c' ORDER BY list.seq, info.seqno`,
    [physical],
  );
  const columns = Map.groupBy(rows, ([index]) => String(index));
  return [...columns].map(([name, parts]) => ({
    name,
    unique: Number(parts[0]?.[1]) === 1,
    columns: parts.map(([, , column]) => String(column)),
  }));
}
