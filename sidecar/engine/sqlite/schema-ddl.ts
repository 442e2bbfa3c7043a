import type { Column } from '../../../db_connector/protocol/columns.ts';
import type { Table } from '../../../db_connector/protocol/schema.ts';
import { HIDDEN_ID, quoted } from './names.ts';
import { physicalIndex, physicalUnique } from './schema-names.ts';
import { sqlType } from './storage.ts';

/** An index as it is made: uniqueness of columns and declared indexes alike; the key is part of the table itself. */
export interface PhysicalIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/** The column that is SQLite's row id: the single key column of an integer type. */
export function rowIdColumn(table: Table): Column | null {
  const [name, ...others] = table.primaryKey ?? [];
  const column = table.columns.find((candidate) => candidate.name === name);
  return column !== undefined && others.length === 0 && (column.type === 'int32' || column.type === 'int64')
    ? column
    : null;
}

export function hasGenerator(table: Table): boolean {
  return table.columns.some((column) => column.autoIncrement);
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

/** What repeats the key, a unique column or another index is not made twice (contract section 6). */
export function physicalIndexes(namespace: string, table: Table): PhysicalIndex[] {
  const made = new Set<string>(table.primaryKey === undefined ? [] : [columnList(table.primaryKey)]);
  const indexes: PhysicalIndex[] = [];
  for (const index of wantedIndexes(namespace, table)) {
    const columns = columnList(index.columns);
    if (made.has(columns)) continue;
    made.add(columns);
    indexes.push(index);
  }
  return indexes;
}

/** Unique ones first: they serve for plain ones over the same columns. */
function wantedIndexes(namespace: string, table: Table): PhysicalIndex[] {
  const columns = table.columns
    .filter((column) => column.unique)
    .map(({ name }) => ({ name: physicalUnique(namespace, table.name, name), columns: [name], unique: true }));
  const declared = table.indexes.map(({ name, columns, unique }) => ({
    name: physicalIndex(namespace, table.name, name),
    columns,
    unique,
  }));
  return [...columns, ...declared.filter((index) => index.unique), ...declared.filter((index) => !index.unique)];
}

/** Each set of columns whose values stand once at most: the key, unique columns, unique indexes. */
export function uniqueSets(table: Table): (readonly string[])[] {
  return [
    ...(table.primaryKey === undefined ? [] : [table.primaryKey]),
    ...table.columns.filter((column) => column.unique).map((column) => [column.name]),
    ...table.indexes.filter((index) => index.unique).map((index) => index.columns),
  ];
}
