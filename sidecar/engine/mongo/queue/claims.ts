import { MongoBulkWriteError, ObjectId } from 'mongodb';
import { claimKey, outcomeOfClaim } from '#engine/model/slot-claims.ts';
import type { QueuedEntry, SlotClaim } from '#engine/queues.ts';
import { ApiError } from '#protocol/errors.ts';
import { failureOf } from '../failures.ts';
import { isOver } from '../keyed/operations.ts';
import { type OperationDocument, operationsOf, recordId } from '../keyed/records.ts';
import type { MongoSession } from '../session.ts';

/** Outcome of another write that has the slot. `cutOff`: a live write with an unknown outcome. */
export type OthersOutcome = 'done' | 'conflict' | 'cutOff';

/**
 * Takes the idempotency slots of entries before they are applied: from then on the key is answered with the
 * acknowledgement, and the entry will be done, by this attempt or the next. Returns the entries whose slot another write
 * has, with its outcome. @throws ApiError `conflict_retry` while such a write is under way
 */
export async function claimSlots(
  session: MongoSession,
  entries: readonly QueuedEntry[],
): Promise<ReadonlyMap<QueuedEntry, OthersOutcome>> {
  const claims = new Map(entries.flatMap(({ claim }) => (claim ? [[claimKey(claim), claim] as const] : [])));
  const others = new Map<QueuedEntry, OthersOutcome>();
  if (claims.size === 0) return others;
  await insertRecords(session, [...claims.values()]);
  const ids = [...claims.values()].map(({ slot }) => recordId(slot));
  const found = await session.look((db, time) =>
    operationsOf(db)
      .find({ _id: { $in: ids } }, time)
      .toArray(),
  );
  const records = new Map(found.map((record) => [record._id, record]));
  for (const entry of entries) {
    const outcome = entry.claim && (await outcomeOf(session, entry.claim, records.get(recordId(entry.claim.slot))));
    if (outcome !== undefined && outcome !== 'own') others.set(entry, outcome);
  }
  return others;
}

async function insertRecords(session: MongoSession, claims: readonly SlotClaim[]): Promise<void> {
  const documents = claims.map(recordOf);
  try {
    await session.send((db, time) => operationsOf(db).insertMany(documents, { ordered: false, ...time }));
  } catch (error) {
    const isTaken = error instanceof MongoBulkWriteError || failureOf(error).kind === 'duplicate';
    if (!isTaken) throw error;
  }
}

async function outcomeOf(session: MongoSession, claim: SlotClaim, known: OperationDocument | undefined) {
  const { fingerprint, expiresAt, state, result = '' } = known ?? recordOf(claim);
  if (known !== undefined && expiresAt <= claim.slot.now && result !== claim.answer) {
    const { _id, ...record } = recordOf(claim);
    const expired = { _id, expiresAt, operation: known.operation };
    const { matchedCount } = await session.send((db, time) => operationsOf(db).replaceOne(expired, record, time));
    if (matchedCount > 0) return 'own';
  }
  // It may never be repeated, and the queue must not wait for that.
  if (known !== undefined && state === 'begun' && (await isOver(session, known))) return 'cutOff';
  if (known === undefined || state === 'begun') {
    throw new ApiError('conflict_retry', 'a write with the idempotencyKey of a queued one is under way');
  }
  return outcomeOfClaim(claim, { fingerprint, result, expiresAt });
}

function recordOf({ slot, answer }: SlotClaim): OperationDocument {
  const { kid, namespace, key, fingerprint, expiresAt } = slot;
  const about = { kid, namespace, key, fingerprint, expiresAt, state: 'done', result: answer } as const;
  return { _id: recordId(slot), ...about, operation: new ObjectId(), owner: 'queue', until: 0 };
}
