import { canonicalJson, sha256Hex } from './canonical-json.ts';
import type { Column, Derivation } from './columns.ts';
import { ApiError } from './errors.ts';
import type { Json, JsonObject } from './json-value.ts';
import { MAX_SCHEMA_TABLES } from './limits.ts';
import { SchemaReader, schemaFault } from './schema-reader.ts';
import { parseTable, type TableKind } from './schema-table.ts';
import type { Schema, Table } from './schema-types.ts';
import { unknownColumn } from './unknown-names.ts';

export type { Column } from './columns.ts';
export { isExtension, isOptional } from './schema-table.ts';
export { type Index, MAIN_PART, type Part, type Schema, type Table } from './schema-types.ts';

/** Renames of `renamedFrom`: new name to old name; columns below the new name of their table. */
export interface Renames {
  readonly tables: ReadonlyMap<string, string>;
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export interface DeclaredSchema {
  readonly schema: Schema;
  readonly renames: Renames;
  /** A line for each unknown property, which is ignored (contract section 3). */
  readonly warnings: readonly string[];
}

/**
 * Checks and normalises a declared schema (contract section 6). Throws `invalid_schema`, or `invalid_identifier` for the
 * name of a table or column, with the path of what is wrong: "schema.tables[0].columns[2].length: expected …".
 */
export function parseSchema(json: Json, path = 'schema'): DeclaredSchema {
  return readSchema(new SchemaReader(), json, 'whole', path);
}

/**
 * The same for a part (contract section 11): what may be an extension of somebody else's table may have indexes over
 * columns that it does not declare, and no columns at all.
 */
export function parsePart(json: Json, path = 'schema'): DeclaredSchema {
  return readSchema(new SchemaReader(), json, 'extension', path);
}

/** Reads the JSON that `schemaToJson` wrote for the sidecar itself. */
export function parseStoredSchema(json: Json): Schema {
  return readSchema(new SchemaReader({ isStored: true }), json, 'whole', 'schema').schema;
}

function readSchema(reader: SchemaReader, json: Json, kind: TableKind, path: string): DeclaredSchema {
  const object = reader.object(json, path, ['tables']);
  const declared = reader.list(object.tables, `${path}.tables`);
  if (!reader.isStored && declared.length > MAX_SCHEMA_TABLES) {
    throw schemaFault(`${path}.tables`, `expected at most ${MAX_SCHEMA_TABLES} tables, got ${declared.length}`);
  }
  const tables: Table[] = [];
  const tableRenames = new Map<string, string>();
  const columnRenames = new Map<string, ReadonlyMap<string, string>>();
  for (const [i, item] of declared.entries()) {
    const parsed = parseTable(reader, item, `${path}.tables[${i}]`, kind);
    tables.push(parsed.table);
    if (parsed.renamedFrom !== null) tableRenames.set(parsed.table.name, parsed.renamedFrom);
    if (parsed.columnRenames.size > 0) columnRenames.set(parsed.table.name, parsed.columnRenames);
  }
  reader.checkNames(tables, tableRenames, `${path}.tables`);
  return {
    schema: { tables: tables.toSorted(byName) },
    renames: { tables: tableRenames, columns: columnRenames },
    warnings: reader.warnings,
  };
}

/** Names are ASCII, so code units are the alphabet of RFC 8785 as well. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Lower-case hex SHA-256 of the canonical JSON of the normalised schema (contract section 6). */
export function schemaHash(schema: Schema): string {
  return sha256Hex(canonicalJson(schemaToJson(visibleSchema(schema))));
}

/** Without the columns that are still being filled, which are not part of what was announced. */
export function visibleSchema(schema: Schema): Schema {
  if (!hasFilling(schema)) return schema;
  const tables = schema.tables.map((table) => ({ ...table, columns: table.columns.filter(isVisible) }));
  return { ...schema, tables };
}

/** Whether some derived column is still being filled. */
export function hasFilling(schema: Schema): boolean {
  return schema.tables.some((table) => !table.columns.every(isVisible));
}

function isVisible(column: Column): boolean {
  return column.filling === undefined;
}

/**
 * The normalised form; of a visible schema it is what `describe` answers, from which anybody can compute the hash. Whose
 * part it is does not count.
 */
export function schemaToJson(schema: Schema): JsonObject {
  return { tables: schema.tables.map(tableToJson) };
}

function tableToJson(table: Table): JsonObject {
  return {
    name: table.name,
    ...(table.primaryKey === undefined ? {} : { primaryKey: [...table.primaryKey] }),
    columns: table.columns.map(columnToJson),
    indexes: table.indexes.map((index) => ({ name: index.name, columns: [...index.columns], unique: index.unique })),
  };
}

export function columnToJson({ derived, oneOf, ...column }: Column): JsonObject {
  return {
    ...column,
    ...(derived === undefined ? {} : { derived: derivedToJson(derived) }),
    ...(oneOf === undefined ? {} : { oneOf: [...oneOf] }),
  };
}

function derivedToJson({ path, ...derived }: Derivation): JsonObject {
  return { ...derived, ...(path === undefined ? {} : { path: [...path] }) };
}

export function findTable(schema: Schema, name: string): Table | null {
  return schema.tables.find((table) => table.name === name) ?? null;
}

/** Throws `unknown_column` with `path`, which names the place in the payload. */
export function columnOf(table: Table, name: string, path: string): Column {
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column !== undefined) return column;
  const names = table.columns.map((candidate) => candidate.name);
  throw unknownColumn(path, name, names);
}

/** A column that a caller names: `unknown_column`, or `sync_in_progress` for one that cannot be used yet. */
export function namedColumn(table: Table, name: string, path: string): Column {
  const column = columnOf(table, name, path);
  checkFilled(column, path);
  return column;
}

/** @throws ApiError `sync_in_progress` for a column that cannot be used yet */
export function checkFilled(column: Column, path: string): void {
  if (column.filling === undefined) return;
  throw new ApiError('sync_in_progress', `${path}: the column is still being filled by a schema sync; try again later`);
}
