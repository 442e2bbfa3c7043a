import { type Json, JsonError, parseJson, writeJson } from '#protocol/json.ts';
import { PanelError } from '../panel-error.ts';

/** @throws PanelError that names the field, for what is no strict JSON */
export function jsonOf(text: string, field: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new PanelError('database.request', { field, detail: `${field}: ${error.message}` });
  }
}

/** Equal values have equal texts, but for the order of properties inside of json. */
export function canonicalText(text: string, field: string): string {
  return writeJson(jsonOf(text, field));
}
