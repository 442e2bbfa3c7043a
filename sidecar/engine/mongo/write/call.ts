import type { Document, ObjectId } from 'mongodb';
import type { TableTarget } from '#engine/rows.ts';
import { LAST_QUEUED_FIELD, MARKS_FIELD } from '../documents.ts';
import type { MongoSession } from '../session.ts';
import type { KnownNumbers } from './generators.ts';

/** What one write works with. */
export interface WriteCall {
  readonly session: MongoSession;
  readonly target: TableTarget;
  readonly known: KnownNumbers;
  /** Null for a live write without idempotency key: it is made once, whatever becomes of it. */
  readonly operation: Operation | null;
}

/** A write that may be begun again where an earlier attempt broke off. */
export type Operation = KeyedOperation | QueuedOperation;

/** With an idempotency key. Its result is remembered, so it has to count what an earlier attempt has done. */
export interface KeyedOperation {
  readonly kind: 'keyed';
  /** Documents that it has changed bear it as a mark; those that it inserts have an `_id` made of it. */
  readonly id: ObjectId;
  /** An earlier attempt may have done some of it, or all. */
  readonly isResumed: boolean;
  /** What a delete has set out to do. */
  readonly plan: DeletePlan | null;
  savePlan(plan: DeletePlan): Promise<void>;
}

export interface DeletePlan {
  /** Documents to be deleted next. */
  readonly ids: readonly ObjectId[];
  /** Rows deleted before those. */
  readonly affected: number;
}

export interface WriteOutcome {
  /** Of the engine's `write`. */
  readonly result: string;
  /** Documents among which are those that bear the mark, best found by an index; null where there are none. */
  readonly marked: Document | null;
}

/** Out of a queue, which is applied in order. Nobody asks for its result. */
export interface QueuedOperation {
  readonly kind: 'queued';
  /** Of its position: later writes of the same journal have greater ones (`queue-marks.ts`). */
  readonly id: ObjectId;
  /** The greatest that the journal can have. */
  readonly last: ObjectId;
  /** An earlier attempt may have done some of it, or all, and of writes behind it. */
  readonly isResumed: boolean;
}

/** Documents that the operation has not changed yet; out of a queue, nor any later one. */
export function unmarked(operation: Operation | null): Document {
  if (operation === null) return {};
  if (operation.kind === 'keyed') return { [MARKS_FIELD]: { $ne: operation.id } };
  return { [LAST_QUEUED_FIELD]: { $not: { $gte: operation.id, $lte: operation.last } } };
}

/** Documents that it has changed; out of a queue, or a later one. */
export function marked(operation: Operation): Document {
  if (operation.kind === 'keyed') return { [MARKS_FIELD]: operation.id };
  return { [LAST_QUEUED_FIELD]: { $gte: operation.id, $lte: operation.last } };
}
