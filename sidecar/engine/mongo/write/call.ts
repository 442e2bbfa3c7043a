import type { Document, ObjectId } from 'mongodb';
import type { TableTarget } from '#engine/rows.ts';
import { MARKS_FIELD, OWNED_MARK_FIELD } from '../documents.ts';
import type { MongoSession } from '../session.ts';
import type { KnownNumbers } from './generators.ts';

/** Context of one write. */
export interface WriteCall {
  readonly session: MongoSession;
  readonly target: TableTarget;
  readonly known: KnownNumbers;
  /** Null for a live write without idempotency key, which is tried once. */
  readonly operation: Operation | null;
}

/** A write that may be resumed after an earlier attempt was cut off. */
export type Operation = KeyedOperation | QueuedOperation;

/** A write with an idempotency key. Its result is stored, so it must count the rows of an earlier attempt. */
export interface KeyedOperation {
  readonly kind: 'keyed';
  /** Changed documents have it as a mark; inserted ones have an `_id` made of it. */
  readonly id: ObjectId;
  /** An earlier attempt may have done a part of it, or all. */
  readonly isResumed: boolean;
  /** Rows that a delete is about to delete. */
  readonly plan: DeletePlan | null;
  savePlan(plan: DeletePlan): Promise<void>;
}

export interface DeletePlan {
  /** Documents to delete next. */
  readonly ids: readonly ObjectId[];
  /** Rows that were deleted before those. */
  readonly affected: number;
}

export interface WriteOutcome {
  /** Result of the engine's `write`. */
  readonly result: string;
  /** Condition that includes all marked documents, best by an index; null if there are none. */
  readonly marked: Document | null;
}

/** A write of a queue, which is applied in order. Its result is not used. */
export interface QueuedOperation {
  readonly kind: 'queued';
  /** Field of documents that holds the last mark of the journal. */
  readonly field: string;
  /** Mark of its position: later writes of the same journal have greater ones (`queue/marks.ts`). */
  readonly id: ObjectId;
  /** The greatest mark of the journal. */
  readonly last: ObjectId;
  /** An earlier attempt may have done a part of it, or all, and writes after it. */
  readonly isResumed: boolean;
}

/** Condition for documents that the operation has not changed; for a queue also no later one. */
export function unmarked(operation: Operation | null): Document {
  if (operation === null) return {};
  if (operation.kind === 'keyed') return { [MARKS_FIELD]: { $ne: operation.id } };
  const { field, id, last, isResumed } = operation;
  const isOther = { $not: { $gte: id, $lte: last } };
  return { [field]: isOther, ...(isResumed ? { [OWNED_MARK_FIELD]: isOther } : {}) };
}

/** Condition for documents that the operation has changed; for a queue also a later one. */
export function marked(operation: Operation): Document {
  if (operation.kind === 'keyed') return { [MARKS_FIELD]: operation.id };
  const { field, id, last } = operation;
  const isMarked = { $gte: id, $lte: last };
  return { $or: [{ [field]: isMarked }, { [OWNED_MARK_FIELD]: isMarked }] };
}
