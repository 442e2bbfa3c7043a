import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { type ClusterCalls, keyOfNonce, type LeaseRow } from '#engine/cluster/cluster-calls.ts';
import { failureOf } from './failures.ts';
import { operationsOf, recordId } from './keyed/records.ts';
import { type LockDocument, locksOf, presencesOf, type RunSchemaWork, revokedOf } from './schema/collections.ts';

/** The documents of `_sidecars`, `_locks` and `_revoked`. */
export function createClusterCalls(run: RunSchemaWork): ClusterCalls {
  return {
    listSidecars: (bounds) =>
      run(bounds, async (work) => {
        const found = await presencesOf(work.db)
          .find({ seenAt: { $exists: true } }, { sort: { _id: 1 }, ...work.time() })
          .toArray();
        return found.map(({ _id, box, url, version, seenAt }) => ({ instance: _id, box, url, version, seenAt }));
      }),
    putSidecar: ({ instance, ...about }, from, bounds) =>
      run(bounds, async (work) => {
        if (from === null) return isInserted(presencesOf(work.db).insertOne({ _id: instance, ...about }, work.time()));
        const seen = { _id: instance, seenAt: from };
        return (await presencesOf(work.db).updateOne(seen, { $set: about }, work.time())).matchedCount > 0;
      }),
    dropSidecar: ({ instance, seenAt }, bounds) =>
      run(bounds, async (work) => {
        await presencesOf(work.db).deleteOne({ _id: instance, seenAt }, work.time());
      }),
    listLeases: (bounds) =>
      run(bounds, async (work) => (await locksOf(work.db).find({}, work.time()).toArray()).map(leaseOf)),
    readLease: (name, bounds) =>
      run(bounds, async (work) => {
        const found = await locksOf(work.db).findOne({ _id: name }, work.time());
        return found === null ? null : leaseOf(found);
      }),
    takeLease: ({ name, owner, renewedAt }, from, bounds) =>
      run(bounds, async (work) => {
        if (from === null) return isInserted(locksOf(work.db).insertOne({ _id: name, owner, renewedAt }, work.time()));
        const seen = { _id: name, owner: from.owner, renewedAt: from.renewedAt };
        return (await locksOf(work.db).updateOne(seen, { $set: { owner, renewedAt } }, work.time())).matchedCount > 0;
      }),
    renewLease: ({ name, owner, renewedAt }, bounds) =>
      run(bounds, async (work) => {
        const held = { _id: name, owner };
        return (await locksOf(work.db).updateOne(held, { $set: { renewedAt } }, work.time())).matchedCount > 0;
      }),
    dropLease: ({ name, owner }, bounds) =>
      run(bounds, async (work) => {
        await locksOf(work.db).deleteOne({ _id: name, owner }, work.time());
      }),
    listRevoked: (bounds) =>
      run(bounds, async (work) => {
        const found = await revokedOf(work.db)
          .find({}, { sort: { _id: 1 }, ...work.time() })
          .toArray();
        return found.map(({ _id, revokedAt }) => ({ kid: _id, revokedAt }));
      }),
    revokeKey: ({ kid, revokedAt }, bounds) =>
      run(bounds, async (work) => {
        await isInserted(revokedOf(work.db).insertOne({ _id: kid, revokedAt }, work.time()));
      }),
    claimNonce: (claim, bounds) => {
      const key = keyOfNonce(claim);
      const { kid, namespace, fingerprint, expiresAt } = claim;
      const place = { _id: recordId({ kid, namespace, key }), kid, namespace, key };
      const owner = randomUUID();
      const record = { ...place, fingerprint, operation: new ObjectId(), owner, until: 0, expiresAt };
      return run(bounds, async (work) => {
        const operations = operationsOf(work.db);
        const isOwn = await isInserted(operations.insertOne({ ...record, state: 'done', result: '' }, work.time()));
        // The insert is repeated if its answer was lost.
        return isOwn || (await operations.findOne({ _id: record._id }, work.time()))?.owner === owner;
      });
    },
  };
}

function leaseOf({ _id, owner, renewedAt }: LockDocument): LeaseRow {
  return { name: _id, owner, renewedAt };
}

async function isInserted(inserting: Promise<unknown>): Promise<boolean> {
  try {
    await inserting;
    return true;
  } catch (error) {
    if (failureOf(error).kind === 'duplicate') return false;
    throw error;
  }
}
