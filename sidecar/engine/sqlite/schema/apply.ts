import { schemaOfText } from '#engine/model/schema-text.ts';
import { type TableTransition, transitionsOf } from '#engine/model/table-transition.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { PlanStep } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Schema } from '#protocol/schema.ts';
import type { JobContext } from '../worker/jobs.ts';
import { misfits } from './checks.ts';
import { detachColumns, followChange, keepColumn, keepTable } from './keep.ts';
import { readSchemaRow, writeSchema } from './store.ts';
import { changeTable, createTable, dropTable } from './tables.ts';

/** A `SchemaChange` as it arrives in the writer's thread. */
export interface ReceivedChange {
  readonly namespace: string;
  /** Revision of the stored schema that the plan starts from; null before the first sync. */
  readonly fromRevision: number | null;
  readonly to: Schema;
  readonly hash: string;
  readonly steps: readonly PlanStep[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Checks that every row fits, inside the reader's snapshot, and changes nothing. Throws `data_does_not_fit`, or `StaleSchemaError` where the stored
 * schema is another than the plan starts from.
 */
export function checkSchema(context: JobContext, change: ReceivedChange): void {
  checkedTransitions(context, change);
}

/** The same checks, then the whole change, in one transaction: a crash leaves the old schema or the new one. */
export function applySchema(context: JobContext, change: ReceivedChange): void {
  context.db.transaction(() => applyChecked(context, change, checkedTransitions(context, change))).immediate();
}

function checkedTransitions(context: JobContext, change: ReceivedChange): TableTransition[] {
  const { namespace, fromRevision } = change;
  const stored = readSchemaRow(context.db, namespace);
  if ((stored?.revision ?? null) !== fromRevision) throw new StaleSchemaError(namespace);
  const from = stored === null ? { tables: [] } : schemaOfText(stored.schema);
  const transitions = transitionsOf(from, change.to, change.steps);
  const faults = transitions.flatMap((transition) => misfits(context, namespace, transition, change.now));
  if (faults.length > 0) throw new ApiError('data_does_not_fit', faults.join('; '));
  return transitions;
}

function applyChecked(context: JobContext, change: ReceivedChange, transitions: readonly TableTransition[]): void {
  const { db } = context;
  const { namespace, now, steps } = change;
  for (const transition of transitions) {
    context.checkDeadline();
    for (const step of steps) {
      if (step.kind === 'quarantineColumn' && step.table === transition.to.name) {
        keepColumn(db, namespace, transition.from, step.column, now, step.part);
      }
    }
    followChange(db, namespace, transition);
    changeTable(db, namespace, transition, now);
  }
  for (const step of steps) {
    context.checkDeadline();
    if (step.kind === 'createTable') createTable(db, namespace, step.table);
    if (step.kind === 'quarantineTable') keepTable(db, namespace, step.table, now, step.part);
    if (step.kind === 'dropTable') {
      dropTable(db, namespace, step.table);
      detachColumns(db, namespace, step.table.name);
    }
  }
  writeSchema(db, {
    namespace,
    revision: (change.fromRevision ?? 0) + 1,
    hash: change.hash,
    schema: change.to,
    updatedAt: new Date(now).toISOString(),
  });
}
