import { isJsonObject, type Json, type JsonObject, parseJson, writeJson } from '#protocol/json.ts';
import { type Part, parseStoredSchema, type Schema, schemaToJson } from '#protocol/schema.ts';

/** The inverse of `textOfSchema`; the digits of numbers stay. */
export function schemaOfText(text: string): Schema {
  return storedSchemaOf(parseJson(text));
}

/** The normalised schema as JSON, the form in which every engine stores it. */
export function textOfSchema(schema: Schema): string {
  return writeJson(storedSchemaToJson(schema));
}

/** With its parts, where it has any: texts without them are as old as the format. */
export function storedSchemaToJson(schema: Schema): JsonObject {
  const json = schemaToJson(schema);
  const { parts = [] } = schema;
  return parts.length === 0 ? json : { ...json, parts: parts.map(partToJson) };
}

/** Of JSON that this program has written. */
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
