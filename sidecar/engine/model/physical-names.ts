import { sha256Hex } from '#protocol/canonical-json.ts';

/** Contract section 6: every physical name has at most 63 bytes and is shortened with a hash. */
const MAX_NAME_BYTES = 63;
const HASH_DIGITS = 16;

/** The hidden generated row id of a table without primary key. */
export const HIDDEN_ID = '_id';

/** `<namespace>__<table>`: at most 63 bytes by the naming rule, and never beginning with `_`. */
export function physicalTable(namespace: string, table: string): string {
  return `${namespace}__${table}`;
}

/** Has more than one `__`, and so is never the name of a table, with which indexes may share their space of names. */
export function physicalIndex(physicalTableName: string, index: string): string {
  return shortened(`${physicalTableName}__${index}`);
}

/** The index that keeps a unique column unique. No declared index can have this name. */
export function physicalUnique(physicalTableName: string, column: string): string {
  return shortened(`${physicalTableName}__u__${column}`);
}

/** The primary key, where a database names it. No declared index can have this name. */
export function physicalKey(physicalTableName: string): string {
  return shortened(`${physicalTableName}__k__key`);
}

/** What generates the ids of a table, hidden ones too, where that is an object of its own. */
export function physicalGenerator(physicalTableName: string): string {
  return shortened(`${physicalTableName}__g__ids`);
}

/** The id is first, so that no two are equal however they are cut. */
export function quarantineName(id: number, physicalTableName: string, column: string | null): string {
  return shortened(`_q${id}_${physicalTableName}${column === null ? '' : `__${column}`}`);
}

/** How the columns of a table are called in it. */
export interface ColumnNames {
  /** The name in the table of a declared column; of any other name, that name. */
  physical(name: string): string;
  /** The inverse. */
  declared(physical: string): string;
}

/** Declared columns with a name that the database keeps for itself begin with `_` in their tables, as no declared name does. */
export function reservedColumns(reserved: readonly string[]): ColumnNames {
  const physical = new Map(reserved.map((name) => [name, `_${name}`]));
  const declared = new Map(reserved.map((name) => [`_${name}`, name]));
  return {
    physical: (name) => physical.get(name) ?? name,
    declared: (name) => declared.get(name) ?? name,
  };
}

/** Names are ASCII by the naming rule. */
function shortened(name: string): string {
  if (name.length <= MAX_NAME_BYTES) return name;
  return `${name.slice(0, MAX_NAME_BYTES - HASH_DIGITS - 2)}__${sha256Hex(name).slice(0, HASH_DIGITS)}`;
}
