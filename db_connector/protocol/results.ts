import * as z from 'zod';
import type { OperationName } from './operations.ts';

export const PLAN_KINDS = [
  'createTable',
  'renameTable',
  'dropTable',
  'quarantineTable',
  'addColumn',
  'renameColumn',
  'alterColumn',
  'dropColumn',
  'quarantineColumn',
  'changePrimaryKey',
  'addIndex',
  'dropIndex',
] as const;

const wholeNumber = z.int().min(0);

const planEntry = z
  .object({
    kind: z.enum(PLAN_KINDS),
    table: z.string(),
    column: z.string().optional(),
    newName: z.string().optional(),
    index: z.string().optional(),
    note: z.string().optional().meta({ description: 'What happens, in plain words' }),
    destructive: z.boolean().meta({ description: 'Removes, quarantines or narrows' }),
  })
  .meta({ id: 'PlanEntry' });

const syncResult = z
  .object({
    namespace: z.string(),
    hash: z.string().meta({ description: 'SHA-256 of the canonical JSON of what was declared, normalised, hex' }),
    changed: z.boolean(),
    dryRun: z.boolean(),
    status: z.enum(['unchanged', 'planned', 'applied', 'denied']),
    plan: z.array(planEntry),
    warnings: z.array(z.string()).optional().meta({ description: 'Unknown properties, which were ignored' }),
  })
  .meta({ id: 'SyncResult' });

const describeResult = z
  .object({
    namespace: z.string(),
    hash: z.string().nullable(),
    schema: z.unknown().meta({
      jsonSchema: { anyOf: [{ $ref: '#/components/schemas/Schema' }, { type: 'null' }] },
    }),
    updatedAt: z.string().meta({ format: 'date-time' }).nullable(),
  })
  .meta({ id: 'DescribeResult' });

const insertResult = z
  .object({
    inserted: wholeNumber,
    ids: z.array(z.unknown()).meta({
      description: 'Primary key of each row where it is a single column, else empty. Integers keep every digit.',
    }),
  })
  .meta({ id: 'InsertResult' });

const findResult = z
  .object({ rows: z.array(z.record(z.string(), z.unknown())), hasMore: z.boolean() })
  .meta({ id: 'FindResult' });

const affectedResult = z
  .object({ affected: wholeNumber.meta({ description: 'The rows that matched' }) })
  .meta({ id: 'AffectedResult' });

/** Result of a failed operation in a batch that is not atomic. */
const failedResult = z
  .object({ error: z.object({ code: z.string(), message: z.string() }) })
  .meta({ id: 'FailedResult' });

const batchResult = z
  .object({ results: z.array(z.union([insertResult, affectedResult, failedResult])) })
  .meta({ id: 'BatchResult', description: 'One result for each operation, in their order' });

const countResult = z.object({ count: wholeNumber }).meta({ id: 'CountResult' });

const queuedAck = z
  .object({ queued: z.literal(true), id: z.string(), pending: wholeNumber })
  .meta({ id: 'QueuedAck', description: 'A buffered write was accepted and will be applied in its order' });

const flushResult = z
  .object({
    flushed: wholeNumber,
    deadLettered: wholeNumber,
    remaining: wholeNumber,
    halted: z.boolean(),
    enabled: z.boolean(),
  })
  .meta({ id: 'FlushResult' });

const healthResult = z
  .object({
    status: z.enum(['ok', 'degraded']),
    provider: z.string(),
    database: z.boolean().meta({ description: 'Whether the database answers' }),
    takesNoWrites: z.enum(['standby', 'readOnly', 'notReady', 'noStandby']).optional().meta({
      description:
        'Why a database that answers takes no writes: it follows another server, was set read-only, is a node that lost its cluster, or each write waits for a synchronous standby that is away',
    }),
    capabilities: z.record(z.string(), z.boolean()).optional().meta({
      description: '`transactions`: an atomic batch works; `filterableJson`: json columns may stand in a filter',
    }),
    backup: z
      .object({
        ageSeconds: wholeNumber.nullable().meta({ description: 'Age of the newest backup; null for none' }),
        sentAgeSeconds: wholeNumber.nullable().meta({ description: 'Age of the newest backup off the machine' }),
        lagSeconds: wholeNumber
          .optional()
          .meta({ description: 'Continuous backup: time since everything was off the machine' }),
        drillFailed: z.boolean().meta({ description: 'Whether the last backup that was tried out is no good' }),
      })
      .optional()
      .meta({ description: 'Left out if no backups are configured' }),
    writeBuffer: z
      .object({
        enabled: z.boolean(),
        pending: wholeNumber.meta({ description: 'Acknowledged writes that are not applied yet, of all namespaces' }),
        oldestAgeSeconds: wholeNumber,
        halted: z.boolean().meta({ description: 'Whether a namespace cannot be written to again and again' }),
        deadLetters: wholeNumber.meta({ description: 'Writes that can never succeed and wait for the owner' }),
        available: z.boolean().meta({ description: 'Whether the journal can be written' }),
      })
      .optional()
      .meta({ description: 'Where write-behind is on' }),
    instance: z.string().optional().meta({ description: 'Random id of this sidecar, which stays over restarts' }),
    sidecars: z
      .array(
        z.object({
          instance: z.string(),
          box: z.string().meta({ description: 'Host name' }),
          url: z.string().meta({ description: 'Where its API listens' }),
          version: z.string(),
          seenAt: z.string().meta({ description: 'ISO 8601, by its own clock' }),
          isAlive: z.boolean().meta({ description: 'Whether it announced itself in the last 35 seconds' }),
        }),
      )
      .optional()
      .meta({ description: 'Other sidecars of the same database' }),
    time: wholeNumber.optional().meta({ description: 'Unix seconds: signed, so a client may set its clock by it' }),
  })
  .meta({ id: 'HealthResult' });

/** Result of each operation, as it stands in the answer's payload. */
export const RESULTS = {
  health: healthResult,
  'schema.sync': syncResult,
  'schema.extend': syncResult,
  'schema.describe': describeResult,
  insert: z.union([insertResult, queuedAck]),
  find: findResult,
  update: z.union([affectedResult, queuedAck]),
  upsert: z.union([affectedResult, queuedAck]),
  delete: z.union([affectedResult, queuedAck]),
  batch: z.union([batchResult, queuedAck]),
  count: countResult,
  aggregate: findResult,
  flush: flushResult,
} as const satisfies Record<OperationName, z.ZodType>;

/** The payload of every failure. */
export const ERROR_PAYLOAD = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      index: wholeNumber.optional().meta({ description: 'Which operation of a batch failed' }),
    }),
  })
  .meta({ id: 'ErrorPayload' });
