import { COLUMN_TYPES, type Column, indexBytes, stringBytes } from './columns.ts';
import { isColumn, isTable } from './identifiers.ts';
import type { Json } from './json-value.ts';
import {
  MAX_INDEX_BYTES,
  MAX_INDEX_COLUMNS,
  MAX_STRING_BYTES_OF_TABLE,
  MAX_TABLE_COLUMNS,
  MAX_TABLE_INDEXES,
  MAX_UNIQUE_COLUMNS_AND_INDEXES,
} from './limits.ts';
import { parseColumn } from './schema-column.ts';
import { checkDerived } from './schema-derived.ts';
import { type SchemaReader, schemaFault } from './schema-reader.ts';
import type { Index, Table } from './schema-types.ts';
import { kindOf } from './value-fault.ts';

const TABLE_PROPERTIES = ['name', 'primaryKey', 'columns', 'indexes', 'renamedFrom'] as const;
const INDEX_PROPERTIES = ['name', 'columns', 'unique'] as const;

/** Whether a declaration must be a whole table, or may be what a part adds to somebody else's. */
export type TableKind = 'whole' | 'extension';

export interface ParsedTable {
  readonly table: Table;
  readonly renamedFrom: string | null;
  readonly columnRenames: ReadonlyMap<string, string>;
}

export function parseTable(reader: SchemaReader, json: Json, path: string, kind: TableKind): ParsedTable {
  const object = reader.object(json, path, TABLE_PROPERTIES);
  const name = reader.name(object.name, `${path}.name`, isTable);
  const renamedFrom = object.renamedFrom ?? null;
  const columnRenames = new Map<string, string>();
  const columns = reader.list(object.columns, `${path}.columns`).map((item, i) => {
    const parsed = parseColumn(reader, item, `${path}.columns[${i}]`);
    if (parsed.renamedFrom !== null) columnRenames.set(parsed.column.name, parsed.renamedFrom);
    return parsed.column;
  });
  const isOpen = kind === 'extension' && isExtension({ primaryKey: object.primaryKey, columns });
  const hasIndexes = Array.isArray(object.indexes) && object.indexes.length > 0;
  checkColumns(columns, `${path}.columns`, isOpen && hasIndexes ? 0 : 1);
  reader.checkNames(columns, columnRenames, `${path}.columns`);
  const primaryKey = parsePrimaryKey(reader, object.primaryKey, columns, `${path}.primaryKey`);
  checkDerived(columns, primaryKey, `${path}.columns`, isOpen);
  checkAutoIncrement(columns, primaryKey, `${path}.columns`);
  const indexes = parseIndexes(reader, object.indexes, columns, `${path}.indexes`, isOpen);
  return {
    table: { name, ...(primaryKey === null ? {} : { primaryKey }), columns, indexes },
    renamedFrom: renamedFrom === null ? null : reader.name(renamedFrom, `${path}.renamedFrom`, isTable),
    columnRenames,
  };
}

/**
 * Whether a part's table can be what it adds to somebody else's: without key, and with columns that rows which are there
 * and others that insert can do without.
 */
export function isExtension({ primaryKey, columns }: { primaryKey?: unknown; columns: readonly Column[] }): boolean {
  return (primaryKey ?? null) === null && columns.every(isOptional);
}

export function isOptional(column: Column): boolean {
  return column.nullable || column.default !== undefined;
}

function checkColumns(columns: readonly Column[], path: string, min: number): void {
  if (columns.length < min || columns.length > MAX_TABLE_COLUMNS) {
    throw schemaFault(path, `expected 1 to ${MAX_TABLE_COLUMNS} columns, got ${columns.length}`);
  }
  let bytes = 0;
  for (const column of columns) bytes += stringBytes(column);
  if (bytes > MAX_STRING_BYTES_OF_TABLE) {
    throw schemaFault(
      path,
      `expected string columns of at most ${MAX_STRING_BYTES_OF_TABLE} bytes in all at 4 a character, got ${bytes}`,
    );
  }
  for (const [i, column] of columns.entries()) {
    if (column.unique) checkIndexBytes([column], `${path}[${i}].unique`);
  }
}

function parsePrimaryKey(
  reader: SchemaReader,
  json: Json | undefined,
  columns: readonly Column[],
  path: string,
): readonly string[] | null {
  if (json === undefined || json === null) return null;
  const names = reader.names(json, path);
  for (const [i, column] of keyColumns(names, columns, path).entries()) {
    if (column.nullable) throw schemaFault(`${path}[${i}]`, `key column ${column.name} must not be nullable`);
  }
  return names;
}

/** The columns of a key or index, checked for what the narrowest engine carries. */
function keyColumns(
  names: readonly string[],
  columns: readonly Column[],
  path: string,
  isOpen = false,
): readonly Column[] {
  if (names.length < 1 || names.length > MAX_INDEX_COLUMNS) {
    throw schemaFault(path, `expected 1 to ${MAX_INDEX_COLUMNS} columns, got ${names.length}`);
  }
  const found = names.flatMap((name, i) => {
    if (names.indexOf(name) !== i) throw schemaFault(`${path}[${i}]`, `column ${name} stands twice`);
    const column = columns.find((candidate) => candidate.name === name);
    if (column === undefined && isOpen && isColumn(name)) return [];
    if (column === undefined) throw schemaFault(`${path}[${i}]`, 'no column of that name in the table');
    if (!COLUMN_TYPES[column.type].isIndexable) {
      throw schemaFault(`${path}[${i}]`, `column ${name} of type ${column.type} cannot be indexed`);
    }
    return column;
  });
  checkIndexBytes(found, path);
  return found;
}

function checkIndexBytes(columns: readonly Column[], path: string): void {
  let bytes = 0;
  for (const column of columns) bytes += indexBytes(column);
  if (bytes <= MAX_INDEX_BYTES) return;
  throw schemaFault(path, `expected at most ${MAX_INDEX_BYTES} bytes in an index at 4 a character, got ${bytes}`);
}

function checkAutoIncrement(columns: readonly Column[], primaryKey: readonly string[] | null, path: string): void {
  for (const [i, column] of columns.entries()) {
    if (!column.autoIncrement || (primaryKey?.length === 1 && primaryKey[0] === column.name)) continue;
    throw schemaFault(`${path}[${i}].autoIncrement`, 'expected a column that is the whole primary key');
  }
}

function parseIndexes(
  reader: SchemaReader,
  json: Json | undefined,
  columns: readonly Column[],
  path: string,
  isOpen: boolean,
): readonly Index[] {
  if (json === undefined || json === null) return [];
  const indexes = reader.list(json, path).map((item, i) => parseIndex(reader, item, columns, `${path}[${i}]`, isOpen));
  reader.checkNames(indexes, new Map(), path);
  if (indexes.length > MAX_TABLE_INDEXES) {
    throw schemaFault(path, `expected at most ${MAX_TABLE_INDEXES} indexes, got ${indexes.length}`);
  }
  const all = indexes.length + columns.filter((column) => column.unique).length;
  if (all > MAX_UNIQUE_COLUMNS_AND_INDEXES) {
    throw schemaFault(path, `expected at most ${MAX_UNIQUE_COLUMNS_AND_INDEXES} with the unique columns, got ${all}`);
  }
  return indexes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function parseIndex(
  reader: SchemaReader,
  json: Json,
  columns: readonly Column[],
  path: string,
  isOpen: boolean,
): Index {
  const object = reader.object(json, path, INDEX_PROPERTIES);
  const name = object.name;
  if (typeof name !== 'string' || !isColumn(name)) {
    const got = typeof name === 'string' ? 'another' : kindOf(name);
    throw schemaFault(`${path}.name`, `expected a name by the rule of columns, got ${got}`);
  }
  const names = reader.names(object.columns, `${path}.columns`);
  keyColumns(names, columns, `${path}.columns`, isOpen);
  return { name, columns: names, unique: reader.flag(object.unique, `${path}.unique`) };
}
