import type { Column } from '#protocol/columns.ts';
import { parseJson, writeJson } from '#protocol/json.ts';
import { isJsonObject, type JsonObject } from '#protocol/json-value.ts';
import { columnOf, columnToJson, MAIN_PART, type Table } from '#protocol/schema.ts';
import { parseColumn } from '#protocol/schema-column.ts';
import { SchemaReader } from '#protocol/schema-reader.ts';
import { ownershipOf } from './schema-parts.ts';
import { schemaOfText, textOfSchema } from './schema-text.ts';
import { changesKey, type TableTransition } from './table-transition.ts';

/**
 * Description of a column in quarantine. Its values are kept with the identity of their rows (the key, or the hidden
 * row id); rows with NULL are left out.
 */
export interface KeptColumn {
  readonly column: Column;
  /** Key columns of its table, under their present names; null if rows are known by the hidden id. */
  readonly key: readonly Column[] | null;
  /**
   * Null while its table is in the schema; then the id of the table in quarantine, or 0 for a table that was dropped.
   * Rows of another table of that name are not its rows.
   */
  readonly goneWith: number | null;
  /** The table has had another key since, so that the old one does not identify its rows, even if it comes back. */
  readonly isKeyLost: boolean;
  /** Part that declared it, and gets it back; absent for the main part. */
  readonly part?: string;
}

/** `goneWith` of columns whose table was dropped. */
export const DROPPED = 0;

/** Description of a column of a declared table, at the moment of keeping it. */
export function keptOf(table: Table, column: Column, part: string | undefined): KeptColumn {
  const key = table.primaryKey?.map((name) => columnOf(table, name, 'primaryKey')) ?? null;
  return { column, key, goneWith: null, isKeyLost: false, ...(part === undefined ? {} : { part }) };
}

/** The description after its table has changed: with the new names of the key. */
export function followed(kept: KeptColumn, change: TableTransition): KeptColumn {
  const newNames = new Map([...change.sources].map(([name, source]) => [source.name, name]));
  return {
    ...kept,
    key: kept.key?.map((column) => ({ ...column, name: newNames.get(column.name) ?? column.name })) ?? null,
    isKeyLost: kept.isKeyLost || changesKey(change),
  };
}

export function textOfKept({ column, key, ...rest }: KeptColumn): string {
  return writeJson({ column: columnToJson(column), key: key?.map(columnToJson) ?? null, ...rest });
}

export function keptOfText(text: string): KeptColumn {
  const json = parseJson(text);
  if (!isJsonObject(json)) throw new Error('a definition in _quarantine is not readable');
  return {
    column: readColumn(json.column),
    key: Array.isArray(json.key) ? json.key.map(readColumn) : null,
    goneWith: typeof json.goneWith === 'number' ? json.goneWith : null,
    isKeyLost: json.isKeyLost === true,
    ...(typeof json.part === 'string' ? { part: json.part } : {}),
  };
}

function readColumn(json: JsonObject[string] | undefined): Column {
  return parseColumn(new SchemaReader(), json ?? null, 'definition').column;
}

/** Description of a table in quarantine: a schema of this table alone, declared by its part. */
export function textOfKeptTable(table: Table, part = MAIN_PART): string {
  const parts = part === MAIN_PART ? [] : [{ name: part, tables: [table.name], extensions: [] }];
  return textOfSchema({ tables: [table], parts });
}

export function partOfKeptTable(text: string, table: string): string {
  return ownershipOf(schemaOfText(text)).ofTable(table);
}
