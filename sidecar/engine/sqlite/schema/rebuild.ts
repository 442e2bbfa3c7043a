import { fillOf } from '#engine/model/column-change.ts';
import { hasGenerator, identityOf } from '#engine/model/physical-indexes.ts';
import { HIDDEN_ID } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { ChangeConnection } from '#engine/sql/schema/connection.ts';
import { rememberedLastId } from '#engine/sql/schema/generators.ts';
import type { SqlParam } from '#engine/sql/session.ts';
import type { Column } from '#protocol/columns.ts';
import { isSameStorage, numberText, quoted, toPhysical } from '../dialect.ts';
import { columnList, createTableSql, renameTableSql } from './ddl.ts';

/** No declared table can have this name, and the transaction that makes it also renames it. */
const NEW_TABLE = '_rebuild';

/** A column of the new table and the expression that fills it. */
interface Copy {
  readonly column: string;
  readonly sql: string;
  readonly params: readonly SqlParam[];
}

/**
 * Replaces a table by a copy in its declared form. Rows keep their order; the caller makes the indexes afterwards.
 */
export async function rebuildTable(
  connection: ChangeConnection,
  namespace: string,
  physical: string,
  change: TableTransition,
  now: number,
): Promise<void> {
  const { from, to } = change;
  const { dialect } = connection;
  await connection.run(createTableSql(NEW_TABLE, to));
  const keepsHiddenId = from.primaryKey === undefined && to.primaryKey === undefined;
  if (hasGenerator(to)) {
    await dialect.raiseLastId(connection, NEW_TABLE, await rememberedLastId(connection, namespace, to.name));
  }
  if (keepsHiddenId || (hasGenerator(from) && hasGenerator(to))) {
    await dialect.raiseLastId(connection, NEW_TABLE, await dialect.lastId(connection, physical));
  }
  const copies = to.columns.map((column) => copyOf(column, change, now, dialect.randomSql));
  if (keepsHiddenId) copies.unshift({ column: HIDDEN_ID, sql: quoted(HIDDEN_ID), params: [] });
  await connection.run(
    `INSERT INTO ${quoted(NEW_TABLE)} (${columnList(copies.map((copy) => copy.column))})
     SELECT ${copies.map((copy) => copy.sql).join(', ')} FROM ${quoted(physical)} WHERE guard() ORDER BY ${columnList(identityOf(from))}`,
    copies.flatMap((copy) => copy.params),
  );
  await connection.run(`DROP TABLE ${quoted(physical)}`);
  await connection.run(renameTableSql(NEW_TABLE, physical));
}

function copyOf(column: Column, { sources }: TableTransition, now: number, randomSql: string): Copy {
  const source = sources.get(column.name);
  if (source !== undefined) return { column: column.name, sql: carriedSql(source, column), params: [] };
  const fill = fillOf(column, now);
  switch (fill.kind) {
    case 'constant':
      return { column: column.name, sql: '?', params: [toPhysical(column, fill.value)] };
    case 'random':
      return { column: column.name, sql: randomSql, params: [] };
    case 'none':
    case 'generated':
      // SQLite generates a row id for NULL. If nothing fills a column, the checks have found the table empty.
      return { column: column.name, sql: 'NULL', params: [] };
    default:
      return fill satisfies never;
  }
}

function carriedSql(from: Column, to: Column): string {
  const name = quoted(from.name);
  return isSameStorage(from, to) ? name : `convert_number(${name}, '${numberText(from)}', '${numberText(to)}')`;
}
