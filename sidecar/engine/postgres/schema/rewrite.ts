import { physicalIndexes } from '#engine/model/physical-indexes.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { ChangeConnection } from '#engine/sql/schema/connection.ts';
import { renameTable } from '#engine/sql/schema/tables.ts';
import { createIndexSql, createTableSql, generatedColumn, physicalColumns } from './ddl.ts';
import { lastId, raiseLastId } from './generators.ts';

/** No declared table can have this name, and the transaction that makes it also renames it. */
const NEW_TABLE = '_rewrite';
/** PostgreSQL counts every column that a table ever had, up to 1600. */
const MAX_COLUMNS_EVER = 1500;

/** Rewrites a table in its present form if so many columns have come and gone that it could soon take no more. */
export async function rewriteWornOut(
  connection: ChangeConnection,
  namespace: string,
  { from, to, sources }: TableTransition,
): Promise<void> {
  const physical = physicalTable(namespace, from.name);
  const added = to.columns.filter(({ name }) => !sources.has(name)).length;
  const sql = 'SELECT max(attnum) FROM pg_attribute WHERE attrelid = CAST(quote_ident(?) AS regclass)';
  if ((await connection.number(sql, [physical])) + added <= MAX_COLUMNS_EVER) return;
  const columns = connection.list(physicalColumns(from).map(({ name }) => name));
  const last = generatedColumn(from) === null ? 0n : await lastId(connection, physical);
  await connection.run(createTableSql(NEW_TABLE, from));
  const source = connection.quoted(physical);
  await connection.run(`INSERT INTO ${NEW_TABLE} (${columns}) SELECT ${columns} FROM ${source}`);
  await connection.run(`DROP TABLE ${source}`);
  await renameTable(connection, from, NEW_TABLE, physical);
  if (last > 0n) await raiseLastId(connection, physical, last);
  for (const index of physicalIndexes(physical, from)) await connection.run(createIndexSql(physical, from, index));
}
