import { schemaOfText } from '#engine/model/schema-text.ts';
import type { PlanStep, QuarantinedObject, RestoredObject } from '#engine/schema-calls.ts';
import { parseJson } from '#protocol/json.ts';
import type { Job, JobContext, JobRegistry } from '../worker/jobs.ts';
import { applySchema, checkSchema, type ReceivedChange } from './apply.ts';
import { lockNamespace, unlockNamespace } from './locks.ts';
import { listQuarantine, purgeQuarantine } from './quarantine.ts';
import { restoreQuarantine } from './restore.ts';
import { readSchemaRow, type SchemaRow } from './store.ts';

/** A `SchemaChange` on its way into a worker: what holds numbers travels as JSON text, so that their digits stay. */
export interface SentChange extends Omit<ReceivedChange, 'to' | 'steps'> {
  readonly to: string;
  readonly steps: string;
}

/** The jobs by name: what goes in and what comes out, both as structured clones. */
export interface SchemaJobTypes {
  readonly 'schema.read': { input: { namespace: string }; output: SchemaRow | null };
  readonly 'schema.check': { input: SentChange; output: null };
  readonly 'schema.apply': { input: SentChange; output: null };
  readonly 'schema.lock': { input: { namespace: string; owner: string; now: number }; output: boolean };
  readonly 'schema.unlock': { input: { namespace: string; owner: string }; output: null };
  readonly 'schema.listQuarantine': { input: { namespace: string | null }; output: QuarantinedObject[] };
  readonly 'schema.restoreQuarantine': { input: { id: number; now: number }; output: RestoredObject };
  readonly 'schema.purgeQuarantine': { input: { id: number }; output: QuarantinedObject };
}

export type SchemaJobName = keyof SchemaJobTypes;

/** `schema-calls.ts` is the only caller, and its types are the same table's. */
function job<Name extends SchemaJobName>(
  on: Job['on'],
  run: (context: JobContext, input: SchemaJobTypes[Name]['input']) => SchemaJobTypes[Name]['output'],
): Job {
  return { on, run: (context, input) => run(context, input as SchemaJobTypes[Name]['input']) };
}

export const SCHEMA_JOBS = {
  'schema.read': job<'schema.read'>('reader', ({ db }, { namespace }) => readSchemaRow(db, namespace)),
  'schema.check': job<'schema.check'>('reader', (context, change) => {
    checkSchema(context, received(change));
    return null;
  }),
  'schema.apply': job<'schema.apply'>('writer', (context, change) => {
    applySchema(context, received(change));
    return null;
  }),
  'schema.lock': job<'schema.lock'>('writer', ({ db }, { namespace, owner, now }) =>
    lockNamespace(db, namespace, owner, now),
  ),
  'schema.unlock': job<'schema.unlock'>('writer', ({ db }, { namespace, owner }) => {
    unlockNamespace(db, namespace, owner);
    return null;
  }),
  'schema.listQuarantine': job<'schema.listQuarantine'>('reader', ({ db }, { namespace }) =>
    listQuarantine(db, namespace),
  ),
  'schema.restoreQuarantine': job<'schema.restoreQuarantine'>('writer', ({ db }, { id, now }) =>
    restoreQuarantine(db, id, now),
  ),
  'schema.purgeQuarantine': job<'schema.purgeQuarantine'>('writer', ({ db }, { id }) => purgeQuarantine(db, id)),
} satisfies JobRegistry & Record<SchemaJobName, Job>;

function received(change: SentChange): ReceivedChange {
  // Written by this program from the very types that it is read as.
  const steps = parseJson(change.steps) as unknown as PlanStep[];
  return { ...change, to: schemaOfText(change.to), steps };
}
