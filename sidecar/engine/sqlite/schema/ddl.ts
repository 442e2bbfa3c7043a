import type { PhysicalIndex } from '#engine/model/physical-indexes.ts';
import { HIDDEN_ID } from '#engine/model/physical-names.ts';
import type { Column } from '#protocol/columns.ts';
import type { Table } from '#protocol/schema.ts';
import { quoted, sqlType } from '../dialect.ts';

/** The column that is SQLite's row id: the single key column of an integer type. */
export function rowIdColumn(table: Table): Column | null {
  const [name, ...others] = table.primaryKey ?? [];
  const column = table.columns.find((candidate) => candidate.name === name);
  return column !== undefined && others.length === 0 && (column.type === 'int32' || column.type === 'int64')
    ? column
    : null;
}

export function createTableSql(physical: string, table: Table): string {
  const rowId = rowIdColumn(table);
  const parts = table.columns.map((column) => (column === rowId ? rowIdSql(column) : columnSql(column)));
  if (table.primaryKey === undefined) {
    parts.unshift(`${quoted(HIDDEN_ID)} INTEGER PRIMARY KEY AUTOINCREMENT`);
  } else if (rowId === null) {
    parts.push(`PRIMARY KEY (${columnList(table.primaryKey)})`);
  }
  return `CREATE TABLE ${quoted(physical)} (${parts.join(', ')}) STRICT`;
}

function rowIdSql(column: Column): string {
  return `${quoted(column.name)} INTEGER PRIMARY KEY${column.autoIncrement ? ' AUTOINCREMENT' : ''} NOT NULL`;
}

export function renameTableSql(from: string, to: string): string {
  return `ALTER TABLE ${quoted(from)} RENAME TO ${quoted(to)}`;
}

export function columnSql(column: Column): string {
  return `${quoted(column.name)} ${sqlType(column)}${column.nullable ? '' : ' NOT NULL'}`;
}

export function columnList(names: readonly string[]): string {
  return names.map(quoted).join(', ');
}

export function createIndexSql(physicalTableName: string, index: PhysicalIndex): string {
  const kind = index.unique ? 'UNIQUE INDEX' : 'INDEX';
  return `CREATE ${kind} ${quoted(index.name)} ON ${quoted(physicalTableName)} (${columnList(index.columns)})`;
}
