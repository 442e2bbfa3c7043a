export { changesNumbers, type ParseOptions, parseJson } from './json-reader.ts';
export {
  exactNumber,
  isJsonObject,
  type Json,
  JsonError,
  type JsonErrorKind,
  JsonNumber,
  type JsonObject,
  numberText,
} from './json-value.ts';
export { type Writable, type WriteOptions, writeJson } from './json-writer.ts';
