import { parseJson, writeJson } from '../../db_connector/protocol/json.ts';
import { parseSchema, type Schema, schemaToJson } from '../../db_connector/protocol/schema.ts';

/** The inverse of `textOfSchema`; the digits of numbers stay. */
export function schemaOfText(text: string): Schema {
  return parseSchema(parseJson(text)).schema;
}

/** The normalised schema as JSON, the form in which every engine stores it. */
export function textOfSchema(schema: Schema): string {
  return writeJson(schemaToJson(schema));
}
