import type { z } from 'zod';
import { ApiError, type ApiErrorCode } from './errors.ts';
import { isNamespace, isPart, isTable } from './identifiers.ts';
import { parseJson } from './json-reader.ts';
import { isJsonObject, type Json, JsonError, JsonNumber, type JsonObject } from './json-value.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { PAYLOADS, type PayloadOf } from './payloads.ts';

/** null means left out, but for properties that carry values (contract section 3). */
const NULL_IS_A_VALUE: readonly string[] = ['set', 'row', 'rows'];

/** Code of a number that overflows, and of too deep nesting, by property (contract sections 3 and 5). */
const CONTENT_CODES: ReadonlyMap<string, ApiErrorCode> = new Map([
  ['rows', 'invalid_value'],
  ['row', 'invalid_value'],
  ['set', 'invalid_value'],
  ['inc', 'invalid_value'],
  ['filter', 'invalid_filter'],
]);

/** Code of any fault of these properties, a wrong type included (contract section 5). */
const SHAPE_CODES: ReadonlyMap<string, ApiErrorCode> = new Map([
  ['filter', 'invalid_filter'],
  ['sort', 'invalid_sort'],
]);

/** The strict reading of a payload's text. Throws `invalid_request`, or the code that goes with an overflow's place. */
export function parsePayloadText(text: string): JsonObject {
  try {
    const payload = parseJson(text);
    if (isJsonObject(payload)) return payload;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw (error.kind === 'overflow' ? overflowFault(text) : null) ?? textFault(error);
  }
  throw requestFault('payload: expected a JSON object');
}

function textFault({ kind, property, message }: JsonError): ApiError {
  const code = kind === 'depth' ? CONTENT_CODES.get(property) : undefined;
  return new ApiError(code ?? 'invalid_request', `payload: ${message}`);
}

function requestFault(message: string): ApiError {
  return new ApiError('invalid_request', message);
}

/** Null if the text has another fault as well. */
function overflowFault(text: string): ApiError | null {
  try {
    const payload = parseJson(text, { overflow: 'keep' });
    if (!isJsonObject(payload)) return null;
    const path = overflowPath(payload, '') ?? 'payload';
    const [, operation, property = ''] = /^(?:operations\[(\d+)\]\.)?(\w*)/.exec(path) ?? [];
    const index = operation === undefined ? undefined : Number(operation);
    const code = CONTENT_CODES.get(property) ?? 'invalid_request';
    return new ApiError(code, `${path}: a number that no double holds`, { index });
  } catch (error) {
    if (error instanceof JsonError) return null;
    throw error;
  }
}

/** Path of the first number that overflows. */
function overflowPath(json: Json, path: string): string | null {
  if (json instanceof JsonNumber) return json.overflows ? path : null;
  if (Array.isArray(json)) return firstOf(json.keys(), (i) => overflowPath(json[i] ?? null, `${path}[${i}]`));
  if (!isJsonObject(json)) return null;
  const prefix = path === '' ? '' : `${path}.`;
  return firstOf(Object.keys(json), (name) => overflowPath(json[name] ?? null, prefix + name));
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

/**
 * Checks the properties' types, then the names. Throws `invalid_request` or `invalid_identifier` that names the field.
 * Unknown properties are left out of the result, but for `schema.sync` and `schema.extend`.
 */
export function parsePayload<Op extends OperationName>(operation: Op, payload: JsonObject): PayloadOf<Op> {
  let given = withoutNulls(payload);
  const { operations } = given;
  if (operation === 'batch' && Array.isArray(operations)) {
    given = { ...given, operations: operations.map(withoutNullsIn) };
  }
  const result = PAYLOADS[operation].safeParse(given);
  if (!result.success) throw shapeFault(result.error.issues[0]);
  if (OPERATIONS[operation].namespace) checkNames(given);
  if (operation === 'batch') checkTablesOf(given);
  // The table's rows are what TypeScript cannot follow through a lookup by a type parameter.
  return result.data as PayloadOf<Op>;
}

function withoutNulls(payload: JsonObject): JsonObject {
  if (!hasNull(payload)) return payload;
  const given: JsonObject = {};
  for (const name of Object.keys(payload)) {
    const value = payload[name] ?? null;
    if (value !== null || NULL_IS_A_VALUE.includes(name)) given[name] = value;
  }
  return given;
}

function hasNull(payload: JsonObject): boolean {
  for (const name in payload) if ((payload[name] ?? null) === null) return true;
  return false;
}

function withoutNullsIn(operation: Json): Json {
  return isJsonObject(operation) ? withoutNulls(operation) : operation;
}

function checkTablesOf({ operations }: JsonObject): void {
  (operations as JsonObject[]).forEach(({ table }, index) => {
    if (typeof table === 'string' && isTable(table)) return;
    throw new ApiError('invalid_identifier', `operations[${index}].table: not a name that is allowed`, { index });
  });
}

function checkNames(payload: JsonObject): void {
  if (typeof payload.namespace === 'string' && !isNamespace(payload.namespace)) {
    throw new ApiError('invalid_identifier', 'namespace: not a name that is allowed');
  }
  if (typeof payload.table === 'string' && !isTable(payload.table)) {
    throw new ApiError('invalid_identifier', 'table: not a name that is allowed');
  }
  if (typeof payload.part === 'string' && !isPart(payload.part)) {
    throw new ApiError('invalid_identifier', 'part: not a name that is allowed');
  }
}

function shapeFault(issue: z.core.$ZodIssue | undefined): ApiError {
  if (issue === undefined) return requestFault('payload: not what the operation takes');
  const [first, second, third] = issue.path;
  const index = first === 'operations' && typeof second === 'number' ? second : undefined;
  const property = index === undefined ? first : third;
  return new ApiError(SHAPE_CODES.get(String(property)) ?? 'invalid_request', describeIssue(issue), { index });
}

function describeIssue(issue: z.core.$ZodIssue): string {
  let path = '';
  for (const step of issue.path)
    path += typeof step === 'number' ? `[${step}]` : `${path === '' ? '' : '.'}${String(step)}`;
  return `${path === '' ? 'payload' : path}: ${issue.message}`;
}

/** A hostile payload must not cause an answer many times as long. */
const MAX_UNKNOWN_NAMED = 100;

const MAX_UNKNOWN_NAME_LENGTH = 100;

/** Properties that the operation does not know, as warnings of a sync (contract section 3). */
export function unknownProperties(operation: OperationName, payload: { readonly [name: string]: unknown }): string[] {
  const known = PAYLOADS[operation].shape;
  return Object.keys(payload)
    .filter((name) => !Object.hasOwn(known, name))
    .slice(0, MAX_UNKNOWN_NAMED)
    .map((name) => `${name.slice(0, MAX_UNKNOWN_NAME_LENGTH)}: unknown property, ignored`);
}
