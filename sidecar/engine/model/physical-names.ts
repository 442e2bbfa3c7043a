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

/**
 * The name has more than one `__`, so that it is never the name of a table: indexes may share the name space of tables.
 */
export function physicalIndex(physicalTableName: string, index: string): string {
  return shortened(`${physicalTableName}__${index}`);
}

/** The index that keeps a unique column unique. No declared index can have this name. */
export function physicalUnique(physicalTableName: string, column: string): string {
  return shortened(`${physicalTableName}__u__${column}`);
}

/** The primary key, if a database names it. No declared index can have this name. */
export function physicalKey(physicalTableName: string): string {
  return shortened(`${physicalTableName}__k__key`);
}

/** Generator of the ids of a table, also of hidden ids, if it is an object of its own. */
export function physicalGenerator(physicalTableName: string): string {
  return shortened(`${physicalTableName}__g__ids`);
}

/** The id comes first, so that no two names are equal after shortening. */
export function quarantineName(id: number, physicalTableName: string, column: string | null): string {
  return shortened(`_q${id}_${physicalTableName}${column === null ? '' : `__${column}`}`);
}

/** Names of columns in the tables of a database. */
export interface ColumnNames {
  /** Name of a declared column in the table; any other name stays as it is. */
  physical(name: string): string;
  /** The inverse of `physical`. */
  declared(physical: string): string;
}

/** Declared columns with a name that the database reserves begin with `_` in their tables, as no declared name does. */
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
