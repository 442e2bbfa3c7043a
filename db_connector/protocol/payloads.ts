import { z } from 'zod';
import { ApiError, type ApiErrorCode } from './errors.ts';
import { IDENTIFIER_PATTERN, isNamespace, isPart, isTable } from './identifiers.ts';
import { parseJson } from './json-reader.ts';
import { isJsonObject, type Json, JsonError, JsonNumber, type JsonObject } from './json-value.ts';
import {
  MAX_AGGREGATE_VALUES,
  MAX_BATCH_OPERATIONS,
  MAX_COLUMN_LENGTH,
  MAX_GROUP_COLUMNS,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  MAX_NAMESPACE_LENGTH,
  MAX_PART_LENGTH,
  MAX_TABLE_LENGTH,
} from './limits.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { isStorableText } from './value-texts.ts';

export const AGGREGATE_FUNCTIONS = ['count', 'countDistinct', 'sum', 'min', 'max'] as const;

export type AggregateFunction = (typeof AGGREGATE_FUNCTIONS)[number];

// `jsonSchema` in a meta is what `z.toJSONSchema` cannot see for itself; scripts/openapi puts it in its place.

const object = (description: string) =>
  z.custom<JsonObject>(isJsonObject, 'expected an object').meta({ jsonSchema: { type: 'object', description } });

/** Content with a reader of its own (`parseFilter`, `parseSort`, `parseSchema`), run once the table is known. */
const content = <T extends Json>(isShape: (json: unknown) => json is T, shape: string, jsonSchema: object) =>
  z.custom<T>(isShape, `expected ${shape}`).meta({ jsonSchema });

const isJsonArray = (json: unknown): json is Json[] => Array.isArray(json);

/** By value, so that 1e2 counts; larger than a double counts exactly means as large as can be. */
const count = (description: string) =>
  z
    .custom<number | JsonNumber>(isCount, 'expected an integer of 0 or more')
    .meta({ jsonSchema: { type: 'integer', minimum: 0, description } });

function isCount(value: unknown): boolean {
  if (value instanceof JsonNumber) return !value.overflows && !/[-.]/.test(value.text);
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

const namespace = z.string().meta({ maxLength: MAX_NAMESPACE_LENGTH, pattern: IDENTIFIER_PATTERN.source });
const table = z.string().meta({ maxLength: MAX_TABLE_LENGTH, pattern: IDENTIFIER_PATTERN.source });
const part = z.string().meta({
  maxLength: MAX_PART_LENGTH,
  pattern: IDENTIFIER_PATTERN.source,
  description: 'Of a namespace; `main` is what schema.sync declares',
});
const schema = content(isJsonObject, 'an object', { $ref: '#/components/schemas/Schema' });
const filter = content(isJsonObject, 'an object', { $ref: '#/components/schemas/Filter' }).optional();
const sort = content(isJsonArray, 'an array', {
  type: 'array',
  items: { $ref: '#/components/schemas/SortKey' },
}).optional();
const distinct = 'a column stands twice';
const names = z
  .array(z.string())
  .min(1, 'expected at least one column')
  .refine((list) => new Set(list).size === list.length, distinct)
  .meta({ uniqueItems: true });
const updated = z
  .array(z.string())
  .refine((list) => new Set(list).size === list.length, distinct)
  .optional()
  .meta({
    uniqueItems: true,
    description: 'Columns that an existing row takes from `row`; left out, all but the keys. Empty: insert if missing',
  });
const groups = z
  .array(z.string())
  .max(MAX_GROUP_COLUMNS, `expected at most ${MAX_GROUP_COLUMNS} columns`)
  .refine((list) => new Set(list).size === list.length, distinct)
  .optional()
  .meta({ uniqueItems: true, maxItems: MAX_GROUP_COLUMNS, description: 'Left out: one row for all that match' });
const aggregates = z
  .array(
    z.object({
      as: z.string().meta({ maxLength: MAX_COLUMN_LENGTH, pattern: IDENTIFIER_PATTERN.source }),
      fn: z.enum(AGGREGATE_FUNCTIONS, `expected one of ${AGGREGATE_FUNCTIONS.join(', ')}`),
      field: z.string().nullish().meta({ description: 'May be left out for count alone, which counts rows then' }),
    }),
  )
  .max(MAX_AGGREGATE_VALUES, `expected at most ${MAX_AGGREGATE_VALUES} values`)
  .optional()
  .meta({ maxItems: MAX_AGGREGATE_VALUES });
const all = z
  .boolean()
  .optional()
  .meta({ description: 'Instead of a filter: every row. Needs allowUnfilteredWrites.' });

const idempotencyKey = z
  .string()
  .min(1, 'expected 1 to 255 characters')
  .max(MAX_IDEMPOTENCY_KEY_LENGTH, 'expected 1 to 255 characters')
  .refine(isStorableText, 'expected text without U+0000 and lone surrogates');

const write = {
  namespace,
  durability: z.literal('immediate').optional(),
  idempotencyKey: idempotencyKey.optional(),
} as const;

/** Properties of the operations that change rows, by themselves and inside a batch. */
const WRITES = {
  insert: { table, rows: z.array(object('Column name to value')).min(1, 'expected at least one row') },
  update: {
    table,
    filter,
    set: object('Column name to the new value').optional(),
    inc: object('Column name to the number that is added').optional(),
    all,
  },
  upsert: {
    table,
    row: object('Column name to value'),
    keys: names,
    update: updated,
    inc: object(
      'Column name to the number that is added to an existing row, and to what a new one begins with',
    ).optional(),
  },
  delete: { table, filter, all },
} as const;

const expectation = z
  .object({ affected: count('Rows that the operation must match, or insert') })
  .optional()
  .meta({ description: 'Else nothing of the batch is done. Only in an atomic one that is not buffered.' });

const member = <Op extends keyof typeof WRITES>(op: Op) =>
  z.object({ op: z.literal(op), ...WRITES[op], expect: expectation });

const batchOperation = z.discriminatedUnion(
  'op',
  [member('insert'), member('update'), member('upsert'), member('delete')],
  { error: 'expected an object with op: insert, update, upsert or delete' },
);

/** Payload of each operation. Types of the properties and names only; what they hold is checked later. */
export const PAYLOADS = {
  health: z.object({}),
  // Loose: what is unknown is not dropped, as the result names it in its warnings.
  'schema.sync': z.looseObject({ namespace, dryRun: z.boolean().optional(), schema }),
  'schema.extend': z.looseObject({ namespace, part, dryRun: z.boolean().optional(), schema }),
  'schema.describe': z.object({ namespace, part: part.optional() }),
  insert: z.object({ ...write, ...WRITES.insert }),
  find: z.object({
    namespace,
    table,
    filter,
    fields: names.optional(),
    sort,
    limit: count('Left out or above maxRows it is maxRows').optional(),
    offset: count('Rows to leave out first').optional(),
  }),
  update: z.object({ ...write, ...WRITES.update }),
  upsert: z.object({ ...write, ...WRITES.upsert }),
  delete: z.object({ ...write, ...WRITES.delete }),
  batch: z.object({
    ...write,
    operations: z
      .array(batchOperation)
      .min(1, 'expected at least one operation')
      .max(MAX_BATCH_OPERATIONS, `expected at most ${MAX_BATCH_OPERATIONS} operations`),
    atomic: z
      .boolean()
      .optional()
      .meta({ description: 'All or nothing, the default; false: each for itself, in order' }),
  }),
  count: z.object({ namespace, table, filter }),
  aggregate: z.object({
    namespace,
    table,
    filter,
    groupBy: groups,
    values: aggregates,
    sort,
    limit: count('Left out or above maxRows it is maxRows').optional(),
    offset: count('Groups to leave out first').optional(),
  }),
  flush: z.object({ namespace }),
} as const satisfies Record<OperationName, z.ZodObject>;

export type PayloadOf<Op extends OperationName> = z.output<(typeof PAYLOADS)[Op]>;

/** One operation of a batch: that operation's own properties, and `expect`. */
export type BatchMember = PayloadOf<'batch'>['operations'][number];

/** null means left out, but for what carries values (contract section 3). */
const NULL_IS_A_VALUE: readonly string[] = ['set', 'row', 'rows'];

/** Where a number that overflows, and what is nested too deep, has a code of its own (contract sections 3 and 5). */
const CONTENT_CODES: ReadonlyMap<string, ApiErrorCode> = new Map([
  ['rows', 'invalid_value'],
  ['row', 'invalid_value'],
  ['set', 'invalid_value'],
  ['inc', 'invalid_value'],
  ['filter', 'invalid_filter'],
]);

/** Anything wrong in them has their own code (contract section 5), also that they are nothing of the kind. */
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

/** Null where something else is wrong with the text as well. */
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

/** Of the first number that overflows. */
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
  const given = withoutNulls(payload);
  if (operation === 'batch' && Array.isArray(given.operations)) given.operations = given.operations.map(withoutNullsIn);
  const result = PAYLOADS[operation].safeParse(given);
  if (!result.success) throw shapeFault(result.error.issues[0]);
  if (OPERATIONS[operation].namespace) checkNames(given);
  if (operation === 'batch') checkTablesOf(given);
  // The table's rows are what TypeScript cannot follow through a lookup by a type parameter.
  return result.data as PayloadOf<Op>;
}

function withoutNulls(payload: JsonObject): JsonObject {
  const given: JsonObject = {};
  for (const name of Object.keys(payload)) {
    const value = payload[name] ?? null;
    if (value !== null || NULL_IS_A_VALUE.includes(name)) given[name] = value;
  }
  return given;
}

function withoutNullsIn(operation: Json): Json {
  return isJsonObject(operation) ? withoutNulls(operation) : operation;
}

/** What a payload would do beside its own operation, for which a key needs the permission too. */
export function operationsIn(payload: { readonly operations?: readonly BatchMember[] }): readonly OperationName[] {
  return payload.operations?.map(({ op }) => op) ?? [];
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

/** So that a hostile payload does not come back many times as long. */
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

/** A count as a number; one that only text holds exactly is larger than any limit. */
export function countOf(value: number | JsonNumber): number {
  return typeof value === 'number' ? Math.min(value, Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER;
}
