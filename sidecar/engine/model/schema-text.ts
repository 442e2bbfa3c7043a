import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '#protocol/json.ts';
import { type Column, type Part, parseStoredSchema, type Schema, schemaToJson } from '#protocol/schema.ts';
import { UnusableDatabaseError } from './failures.ts';

/** The inverse of `textOfSchema`; the digits of numbers stay. */
export function schemaOfText(text: string): Schema {
  return storedSchemaOf(parseJson(text));
}

/** The normalised schema as JSON, the form in which every engine stores it. */
export function textOfSchema(schema: Schema): string {
  return writeJson(storedSchemaToJson(schema));
}

/** With its parts, if it has any. A text without parts may be of any version. */
function storedSchemaToJson(schema: Schema): JsonObject {
  const json = schemaToJson(schema);
  const { parts = [] } = schema;
  return parts.length === 0 ? json : { ...json, parts: parts.map(partToJson) };
}

/** Schema in JSON that this program has written. */
export function storedSchemaOf(json: Json): Schema {
  const schema = parseStoredSchema(json);
  const parts = isJsonObject(json) && Array.isArray(json.parts) ? json.parts.map(partOf) : [];
  return parts.length === 0 ? schema : { ...schema, parts };
}

function partToJson({ name, tables, extensions }: Part): JsonObject {
  const listed = extensions.map(({ table, columns, indexes }) => ({
    table,
    columns: [...columns],
    indexes: [...indexes],
  }));
  return { name, tables: [...tables], extensions: listed };
}

function partOf(json: Json): Part {
  const { name, tables, extensions } = objectOf(json);
  const listed = Array.isArray(extensions) ? extensions.map(objectOf) : [];
  return {
    name: String(name),
    tables: names(tables),
    extensions: listed.map(({ table, columns, indexes }) => ({
      table: String(table),
      columns: names(columns),
      indexes: names(indexes),
    })),
  };
}

function names(json: Json | undefined): string[] {
  return Array.isArray(json) ? json.map(String) : [];
}

function objectOf(json: Json): JsonObject {
  if (!isJsonObject(json)) throw new Error('a part in a stored schema is not readable');
  return json;
}

/**
 * Newest version of the `_` tables that this program knows. A database of a newer version is refused and never changed.
 */
export const FORMAT_VERSION = 2;

/**
 * Version of a new database. It grows only with things that an older program would destroy, so that any other database
 * can go back to an older program.
 */
export const FIRST_FORMAT_VERSION = 1;

/**
 * Judges the format version that is stored in a database. `place` names the database or file in the error.
 * @throws UnusableDatabaseError
 */
export function checkFormatVersion(stored: unknown, place: string): void {
  const version = Number(stored);
  if (!Number.isSafeInteger(version) || version < 1) {
    throw new UnusableDatabaseError(`the ${place} has no readable format version; nothing was changed`);
  }
  if (version > FORMAT_VERSION) {
    throw new UnusableDatabaseError(
      `the ${place} has format version ${version}, and this program knows ${FORMAT_VERSION}: use a newer sidecar; nothing was changed`,
    );
  }
}

/**
 * A program without parts removes their tables and columns with its next sync. A program without derived columns and
 * column options writes rows that do not obey them.
 */
export function formatOf({ parts = [], tables }: Schema): number {
  const isNew = parts.length > 0 || tables.some((table) => table.columns.some(hasOption));
  return isNew ? FORMAT_VERSION : FIRST_FORMAT_VERSION;
}

function hasOption({ derived, onUpdate, oneOf }: Column): boolean {
  return derived !== undefined || onUpdate !== undefined || oneOf !== undefined;
}
