import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import type { CallBounds, IdempotencySlot } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { MARKS_FIELD } from '../documents.ts';
import { failureOf } from '../failures.ts';
import type { MongoSession } from '../session.ts';
import type { DeletePlan, KeyedOperation, WriteOutcome } from '../write/call.ts';
import { PartialInsertError } from '../write/insert.ts';
import { type OperationDocument, operationsOf, recordId, remembered } from './records.ts';
import type { MarkSweep } from './sweep.ts';

/** Time by which an operation belongs to its sidecar beyond its own limit. */
const LEASE_SLACK_MS = 1000;
const ASK_AGAIN_MS = 25;

export interface OperationsOptions {
  readonly sweep: MarkSweep;
}

/** Write of a key, and its collection. */
export interface KeyedWrite {
  readonly slot: IdempotencySlot;
  readonly collection: string;
  /** The write marks the documents that it changes. */
  readonly marks: boolean;
  /** A batch of several writes: one may be done when the next one fails. */
  readonly isBatch?: boolean;
  run(operation: KeyedOperation): Promise<WriteOutcome>;
}

/** The server adds the end of the lease. */
type NewRecord = Omit<OperationDocument, 'until'>;

interface Begun {
  readonly operation: KeyedOperation;
  /**
   * State of the record while it belongs to this attempt. A late statement of a dead attempt must not change the record
   * of the next attempt.
   */
  readonly claim: Pick<OperationDocument, '_id' | 'operation' | 'owner' | 'attempt'> & { readonly state: 'begun' };
}

/**
 * Idempotency without transactions (contract section 5). A crash leaves one of these states:
 *
 * 1. no record: nothing was done;
 * 2. a record `begun`: any part of the write may be done. The next attempt goes on with the same operation id and skips
 *    what is done: changed documents have the id as a mark, inserted ones have an `_id` made of it, the record lists
 *    deleted ones;
 * 3. a record `done` with its result, and marks: harmless, removed when the record expires.
 *
 * An attempt takes a record of its own sidecar over at once, and one of another sidecar when its lease is over by the clock of
 * the database server. Clocks of sidecars are never compared.
 */
export class Operations {
  readonly #owner = randomUUID();
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** @throws ApiError `idempotency_conflict`, and the errors of the write */
  async run(session: MongoSession, write: KeyedWrite, bounds: CallBounds): Promise<string> {
    const leftMs = Math.max(0, bounds.deadline - performance.now());
    const begun = await this.#begin(session, write, leftMs + LEASE_SLACK_MS);
    if (typeof begun === 'string') return begun;
    const { operation, claim } = begun;
    let outcome: WriteOutcome;
    try {
      outcome = await write.run(operation);
    } catch (error) {
      await settleFailure(session, write, begun, error);
      throw error;
    }
    const done = { $set: { state: 'done', result: outcome.result }, $unset: { plan: '' } } as const;
    const { matchedCount } = await session.send((db, time) => operationsOf(db).updateOne(claim, done, time));
    // If another attempt has taken the record over, its result is the only one. The record is gone only if it has
    // expired.
    if (matchedCount === 0 && (await isKnown(session, claim))) return this.run(session, write, bounds);
    this.#sweepLater(write, operation, outcome);
    return outcome.result;
  }

  #sweepLater(
    { slot, collection, marks }: KeyedWrite,
    { id, isResumed }: KeyedOperation,
    { marked }: WriteOutcome,
  ): void {
    if (!marks) return;
    this.#options.sweep.add({ record: recordId(slot), collection, operation: id, among: marked }, isResumed);
  }

  /** The purge does not see marks of a record that is replaced. */
  #sweepForgotten({ _id, marked, operation }: OperationDocument): void {
    if (marked !== undefined) this.#options.sweep.add({ record: _id, collection: marked, operation, among: {} }, false);
  }

  /** The operation to work on, or the result if it is done. */
  async #begin(session: MongoSession, write: KeyedWrite, leaseMs: number): Promise<Begun | string> {
    const { slot } = write;
    const record = this.#newRecord(write);
    for (;;) {
      if (await isInserted(session, record, leaseMs)) return operationOf(session, record, false);
      const known = await session.look((db, time) => operationsOf(db).findOne({ _id: record._id }, time));
      if (known === null) continue;
      if (known.expiresAt <= slot.now) {
        if (!(await isReplaced(session, known, record, leaseMs))) continue;
        this.#sweepForgotten(known);
        return operationOf(session, record, false);
      }
      const result = remembered(known, slot.fingerprint);
      if (result !== null) return result;
      const taken = await takenOver(session, known, this.#owner, leaseMs);
      if (taken !== null) return operationOf(session, taken, true);
      await delay(ASK_AGAIN_MS);
    }
  }

  #newRecord({ slot, collection, marks }: KeyedWrite): NewRecord {
    const { kid, namespace, key, fingerprint, expiresAt } = slot;
    return {
      _id: recordId(slot),
      kid,
      namespace,
      key,
      fingerprint,
      operation: new ObjectId(),
      owner: this.#owner,
      attempt: randomUUID(),
      expiresAt,
      state: 'begun',
      ...(marks ? { marked: collection } : {}),
    };
  }
}

/** False if there is a record already. */
async function isInserted(session: MongoSession, record: NewRecord, leaseMs: number): Promise<boolean> {
  // Matches no record, so that it inserts or meets the one that is there.
  const missing = { _id: record._id, operation: { $exists: false } };
  try {
    await session.send((db, time) =>
      operationsOf(db).updateOne(missing, leasedFor(record, leaseMs), { upsert: true, ...time }),
    );
    return true;
  } catch (error) {
    if (failureOf(error).kind === 'duplicate') return false;
    throw error;
  }
}

/** False if another attempt was first. */
async function isReplaced(
  session: MongoSession,
  known: OperationDocument,
  record: NewRecord,
  leaseMs: number,
): Promise<boolean> {
  const { matchedCount } = await session.send((db, time) =>
    operationsOf(db).updateOne(unchanged(known), leasedFor(record, leaseMs), time),
  );
  return matchedCount > 0;
}

/** The record as this attempt has it; null if it belongs to another sidecar still, or another attempt was first. */
async function takenOver(
  session: MongoSession,
  known: OperationDocument,
  owner: string,
  leaseMs: number,
): Promise<OperationDocument | null> {
  if (known.owner !== owner && !(await isOver(session, known))) return null;
  const own = { owner, attempt: randomUUID() };
  const change = [{ $set: { ...own, until: { $add: [SERVER_MS, leaseMs] } } }];
  const { matchedCount } = await session.send((db, time) => operationsOf(db).updateOne(unchanged(known), change, time));
  return matchedCount > 0 ? { ...known, ...own } : null;
}

/**
 * Whether the sidecar that has begun the write does nothing of it any more. A question of its own: FerretDB knows no `$$NOW` in
 * the filter of an update.
 */
export async function isOver(session: MongoSession, { _id, until }: OperationDocument): Promise<boolean> {
  const overdue = { _id, until, $expr: { $lte: ['$until', SERVER_MS] } };
  return (await session.look((db, time) => operationsOf(db).findOne(overdue, time))) !== null;
}

/** Epoch milliseconds of the database server. */
const SERVER_MS = { $toDouble: '$$NOW' };

function leasedFor(record: NewRecord, leaseMs: number) {
  return [{ $replaceWith: { $mergeObjects: [{ $literal: record }, { until: { $add: [SERVER_MS, leaseMs] } }] } }];
}

function unchanged({ _id, operation, owner, until, state }: OperationDocument) {
  return { _id, operation, owner, until, state };
}

function operationOf(session: MongoSession, record: NewRecord, isResumed: boolean): Begun {
  const { _id, operation: id, owner, attempt = '' } = record;
  const claim = { _id, operation: id, owner, attempt, state: 'begun' } as const;
  const savePlan = async (plan: DeletePlan): Promise<void> => {
    const { matchedCount } = await session.send((db, time) =>
      operationsOf(db).updateOne(claim, { $set: { plan } }, time),
    );
    if (matchedCount === 0) throw new ApiError('conflict_retry', 'another sidecar goes on with this very write');
  };
  return { operation: { kind: 'keyed', id, isResumed, plan: record.plan ?? null, savePlan }, claim };
}

async function isKnown(session: MongoSession, { _id, operation }: Begun['claim']): Promise<boolean> {
  return (await session.look((db, time) => operationsOf(db).findOne({ _id, operation }, time))) !== null;
}

/**
 * Failures are not stored, except a partial insert. A write with an unknown outcome, or that changed some rows before
 * it failed, stays begun: the next attempt skips those rows.
 */
async function settleFailure(
  session: MongoSession,
  { collection, marks, isBatch }: KeyedWrite,
  { operation: { id, isResumed }, claim }: Begun,
  error: unknown,
): Promise<void> {
  const refusal = refusalOf(error);
  if (refusal === null || isBatch === true) return;
  if (refusal instanceof PartialInsertError) {
    const failure = { code: refusal.code, message: refusal.message };
    await session.send((db, time) => operationsOf(db).updateOne(claim, { $set: { state: 'done', failure } }, time));
    return;
  }
  if (marks) {
    const mark = { [MARKS_FIELD]: id };
    if ((await session.look((db, time) => db.collection(collection).findOne(mark, time))) !== null) return;
  }
  if (isResumed && !marks) return;
  await session.send((db, time) => operationsOf(db).deleteOne(claim, time));
}

/** The error if the database certainly did not do the write, or null. */
function refusalOf(error: unknown): ApiError | null {
  return error instanceof ApiError && error.status < 500 ? error : null;
}
