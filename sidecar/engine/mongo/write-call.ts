import type { Document, ObjectId } from 'mongodb';
import type { TableTarget } from '../engine.ts';
import { MARKS_FIELD } from './documents.ts';
import type { KnownNumbers } from './generators.ts';
import type { MongoSession } from './session.ts';

/** What one write works with. */
export interface WriteCall {
  readonly session: MongoSession;
  readonly target: TableTarget;
  readonly known: KnownNumbers;
  /** Null for a write without idempotency key: it is made once, whatever becomes of it. */
  readonly operation: Operation | null;
}

/** A write with an idempotency key, which may be begun again where an earlier attempt broke off. */
export interface Operation {
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

/** Documents that the operation has not changed yet. */
export function unmarked(operation: Operation | null): Document {
  return operation === null ? {} : { [MARKS_FIELD]: { $ne: operation.id } };
}
