import { createHash } from 'node:crypto';
import type { Collection, Db, ObjectId } from 'mongodb';
import { IdempotencyConflictError } from '#engine/model/remembered-answer.ts';
import type { IdempotencySlot, RememberedResult } from '#engine/rows.ts';
import { ApiError, type ApiErrorCode } from '#protocol/errors.ts';
import type { MongoSession } from '../session.ts';
import type { DeletePlan } from '../write/call.ts';

/** `_idempotency`: a document for each key. */
export interface OperationDocument {
  readonly _id: string;
  readonly kid: string;
  readonly namespace: string;
  readonly key: string;
  readonly fingerprint: string;
  /** Id of the write in marks, and in `_id`s of documents that it inserts. */
  readonly operation: ObjectId;
  /** Sidecar that works on the write. */
  readonly owner: string;
  /** Differs for each attempt of that sidecar. */
  readonly attempt?: string;
  /** Epoch milliseconds of the database server after which another sidecar may go on with the write. */
  readonly until: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly state: 'begun' | 'done';
  /** Collection whose documents may bear its mark. */
  readonly marked?: string;
  readonly plan?: DeletePlan;
  readonly result?: string;
  /** Error of an insert that stopped in the middle. */
  readonly failure?: { readonly code: ApiErrorCode; readonly message: string };
}

export function operationsOf(db: Db): Collection<OperationDocument> {
  return db.collection('_idempotency');
}

/** Result of a key; null if nothing is done yet. */
export async function recall(
  session: MongoSession,
  slot: Pick<IdempotencySlot, 'kid' | 'namespace' | 'key' | 'now'>,
): Promise<RememberedResult | null> {
  const known = await session.look((db, time) => operationsOf(db).findOne({ _id: recordId(slot) }, time));
  if (known === null || known.expiresAt <= slot.now) return null;
  const { fingerprint, failure, state, result } = known;
  if (failure !== undefined) return { fingerprint, result: '', failure: new ApiError(failure.code, failure.message) };
  return state === 'done' && result !== undefined ? { fingerprint, result } : null;
}

/**
 * Result, or null if the write is not done. @throws ApiError `idempotency_conflict`, and the failure of a partial
 * insert
 */
export function remembered({ state, fingerprint, result, failure }: OperationDocument, asked: string): string | null {
  if (fingerprint !== asked) throw new IdempotencyConflictError();
  if (failure !== undefined) throw new ApiError(failure.code, failure.message);
  return state === 'done' && result !== undefined ? result : null;
}

/** Id of bounded length, whatever the key is. */
export function recordId({ kid, namespace, key }: Pick<IdempotencySlot, 'kid' | 'namespace' | 'key'>): string {
  return createHash('sha256')
    .update(JSON.stringify([kid, namespace, key]))
    .digest('base64url');
}
