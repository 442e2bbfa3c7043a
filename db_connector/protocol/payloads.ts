import * as z from 'zod';
import { IDENTIFIER_PATTERN } from './identifiers.ts';
import { isJsonObject, type Json, JsonNumber, type JsonObject } from './json-value.ts';
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
import type { OperationName } from './operations.ts';
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

/** Operation of a batch: its own properties, and `expect`. */
export type BatchMember = PayloadOf<'batch'>['operations'][number];

/** A count as a number; one that only text holds exactly is larger than any limit. */
export function countOf(value: number | JsonNumber): number {
  return typeof value === 'number' ? Math.min(value, Number.MAX_SAFE_INTEGER) : Number.MAX_SAFE_INTEGER;
}
