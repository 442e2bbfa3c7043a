export { changesNumbers } from './json-changes.ts';
export { parseJson } from './json-reader.ts';
export {
  exactNumber,
  isJsonObject,
  type Json,
  JsonError,
  JsonNumber,
  type JsonObject,
} from './json-value.ts';
export { type Writable, writeJson } from './json-writer.ts';
