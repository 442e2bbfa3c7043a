import { randomUUID } from 'node:crypto';
import type { Restored } from '#engine/model/restore-rules.ts';
import type { Schema } from '#protocol/schema.ts';
import type { Others, PendingChange, SchemaDocument, SchemaWork } from './collections.ts';
import { planOfText } from './plan.ts';
import { removeGone } from './quarantine.ts';
import { restoreJob } from './restore.ts';
import { advance, finish, storedSchema, takeOver } from './store.ts';
import { type Job, unitsOf } from './units.ts';

/** Finishes a change that was cut off, whoever began it. */
export async function finishPending(
  work: SchemaWork,
  others: Others,
  document: SchemaDocument,
  found: PendingChange,
): Promise<Restored> {
  const namespace = document._id;
  const pending = await takeOver(work, namespace, found, randomUUID());
  // It may have been cut off in the moment in which it began.
  await others.wait(work, namespace, pending.token);
  return runPending(work, namespace, storedSchema(document), pending);
}

export async function runPending(
  work: SchemaWork,
  namespace: string,
  from: Schema,
  pending: PendingChange,
): Promise<Restored> {
  const job = pending.kind === 'sync' ? syncJob(from, pending.plan) : restoreJob(from, pending.plan);
  for (const [position, unit] of job.units.entries()) {
    if (position < pending.position) continue;
    await advance(work, namespace, pending, position);
    await unit(work);
  }
  await removeGone(work);
  const result = await job.result(work);
  await finish(work, namespace, pending, result.schema, job.now);
  return result;
}

function syncJob(from: Schema, text: string): Job {
  const plan = planOfText(text);
  return {
    units: unitsOf(from, plan),
    now: plan.now,
    result: () => Promise.resolve({ schema: plan.to, note: null }),
  };
}
