import { MAX_COLUMN_LENGTH, MAX_NAMESPACE_LENGTH, MAX_PART_LENGTH, MAX_TABLE_LENGTH } from './limits.ts';

/** Names of namespaces, tables, columns and indexes: the only text that ever becomes part of a statement. */
export const IDENTIFIER_PATTERN = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

export function isNamespace(name: string): boolean {
  return name.length <= MAX_NAMESPACE_LENGTH && IDENTIFIER_PATTERN.test(name);
}

export function isTable(name: string): boolean {
  return name.length <= MAX_TABLE_LENGTH && IDENTIFIER_PATTERN.test(name);
}

/** Columns, and indexes, which obey the same rule (contract section 6). */
export function isColumn(name: string): boolean {
  return name.length <= MAX_COLUMN_LENGTH && IDENTIFIER_PATTERN.test(name);
}

/** Parts of a namespace's schema (contract section 11). */
export function isPart(name: string): boolean {
  return name.length <= MAX_PART_LENGTH && IDENTIFIER_PATTERN.test(name);
}
