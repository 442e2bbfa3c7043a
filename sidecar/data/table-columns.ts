import type { Column } from '#protocol/columns.ts';
import { checkFilled, type Table } from '#protocol/schema.ts';
import { unknownColumn } from '#protocol/unknown-names.ts';
import { parseValue, type Value } from '#protocol/values.ts';
import { type DerivedColumn, derivedOf } from '../columns/derive.ts';

/** Facts that every row needs of its table, computed once for each table object of the catalogue. */
export interface TableColumns {
  readonly byName: ReadonlyMap<string, Column>;
  /** Readable columns: all but those that are still being filled. */
  readonly names: readonly string[];
  readonly primaryKey: ReadonlySet<string>;
  /** Column lists, sorted, that identify a row: the primary key, unique columns, unique indexes. */
  readonly uniqueKeys: ReadonlySet<string>;
  /** Logical form of defaults that are values; "now" and "random" are made for each insert. */
  readonly defaults: ReadonlyMap<string, Value>;
  readonly derived: readonly DerivedColumn[];
  /** Columns that an update sets by itself. */
  readonly setAtUpdate: readonly Column[];
}

const known = new WeakMap<Table, TableColumns>();

export function columnsOf(table: Table): TableColumns {
  let columns = known.get(table);
  if (columns === undefined) {
    columns = describe(table);
    known.set(table, columns);
  }
  return columns;
}

function describe(table: Table): TableColumns {
  const uniqueKeys = [
    ...(table.primaryKey === undefined ? [] : [table.primaryKey]),
    ...table.columns.filter((column) => column.unique).map((column) => [column.name]),
    ...table.indexes.filter((index) => index.unique).map((index) => index.columns),
  ];
  const defaults = new Map<string, Value>();
  for (const column of table.columns) {
    if (column.default === undefined || isMadeAtInsert(column)) continue;
    defaults.set(column.name, parseValue(column, column.default));
  }
  return {
    byName: new Map(table.columns.map((column) => [column.name, column])),
    names: table.columns.filter((column) => column.filling === undefined).map((column) => column.name),
    primaryKey: new Set(table.primaryKey ?? []),
    uniqueKeys: new Set(uniqueKeys.map(keyText)),
    defaults,
    derived: derivedOf(table.columns),
    setAtUpdate: table.columns.filter((column) => column.onUpdate !== undefined),
  };
}

/** Defaults that mean something only on their types (contract section 6). */
export function isMadeAtInsert({ type, default: value }: Column): boolean {
  return (value === 'now' && (type === 'datetime' || type === 'date')) || (value === 'random' && type === 'uuid');
}

/** The same text for the same columns in any order. */
export function keyText(columns: readonly string[]): string {
  return columns.toSorted().join(',');
}

export function columnAt(columns: TableColumns, name: string, path: string): Column {
  const column = columns.byName.get(name);
  if (column === undefined) throw unknownColumn(path, name, columns.names);
  checkFilled(column, path);
  return column;
}
