import type { Column } from '#protocol/columns.ts';
import type { Table } from '#protocol/schema.ts';
import { HIDDEN_ID } from './physical-names.ts';

/** The hidden generated row id of a table without primary key, as a column of its storage form. */
const HIDDEN_COLUMN: Column = { name: HIDDEN_ID, type: 'int64', nullable: false, unique: false, autoIncrement: true };

/** A table as it is stored: always with a key. See `Transfer`. */
export function storageForm(table: Table): Table & { readonly primaryKey: readonly string[] } {
  const { primaryKey } = table;
  if (primaryKey !== undefined) return { ...table, primaryKey };
  return { ...table, columns: [HIDDEN_COLUMN, ...table.columns], primaryKey: [HIDDEN_ID] };
}

/** Table of a kept column: `key` are the key columns of its table, null if rows have a hidden id. */
export function keptColumnForm(
  name: string,
  key: readonly Column[] | null,
  column: Column,
): Table & { readonly primaryKey: readonly string[] } {
  const keys = (key ?? [HIDDEN_COLUMN]).map((part, position) => bare(part, `k${position}`));
  return {
    name,
    columns: [...keys, bare(column, 'value')],
    primaryKey: keys.map((part) => part.name),
    indexes: [],
  };
}

/** A column for values alone: nothing is generated, filled in or unique. */
function bare({ default: _, ...column }: Column, name: string): Column {
  return { ...column, name, nullable: false, unique: false, autoIncrement: false };
}
