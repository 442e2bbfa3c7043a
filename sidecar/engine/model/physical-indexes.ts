import type { Table } from '#protocol/schema.ts';
import { HIDDEN_ID, physicalIndex, physicalUnique } from './physical-names.ts';

/** A physical index, of a unique column or a declared index; the key is part of the table itself. */
export interface PhysicalIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/**
 * Indexes to make. One over the columns of the key, of a unique column or of another index is left out (contract
 * section 6).
 */
export function physicalIndexes(physicalTableName: string, table: Table): PhysicalIndex[] {
  const made = new Set<string>(table.primaryKey === undefined ? [] : [listText(table.primaryKey)]);
  const indexes: PhysicalIndex[] = [];
  for (const index of wantedIndexes(physicalTableName, table)) {
    const columns = listText(index.columns);
    if (made.has(columns)) continue;
    made.add(columns);
    indexes.push(index);
  }
  return indexes;
}

/** Unique indexes first: they also serve as plain ones over the same columns. */
function wantedIndexes(physicalTableName: string, table: Table): PhysicalIndex[] {
  const columns = table.columns
    .filter((column) => column.unique)
    .map(({ name }) => ({ name: physicalUnique(physicalTableName, name), columns: [name], unique: true }));
  const declared = table.indexes.map(({ name, columns, unique }) => ({
    name: physicalIndex(physicalTableName, name),
    columns,
    unique,
  }));
  return [...columns, ...declared.filter((index) => index.unique), ...declared.filter((index) => !index.unique)];
}

/** Two indexes with the same text are the same index. */
export function indexText(index: PhysicalIndex): string {
  return `${index.name} ${index.unique} ${listText(index.columns)}`;
}

function listText(columns: readonly string[]): string {
  return columns.join(' ');
}

/** Each set of columns whose values are unique: the key, unique columns, unique indexes. */
export function uniqueSets(table: Table): (readonly string[])[] {
  return [
    ...(table.primaryKey === undefined ? [] : [table.primaryKey]),
    ...table.columns.filter((column) => column.unique).map((column) => [column.name]),
    ...table.indexes.filter((index) => index.unique).map((index) => index.columns),
  ];
}

/** The columns that identify a row. */
export function identityOf(table: Table): readonly string[] {
  return table.primaryKey ?? [HIDDEN_ID];
}

export function hasGenerator(table: Table): boolean {
  return table.columns.some((column) => column.autoIncrement);
}
