import { MongoServerError } from 'mongodb';
import { LOCK_LIFETIME_MS } from '#engine/schema-calls.ts';
import { locksOf, type SchemaWork } from './collections.ts';

/**
 * Takes or renews the lock of a namespace; false where another owner holds it. `now` in epoch milliseconds. A time of
 * renewal that lies far ahead comes from a clock that was wrong, and does not hold.
 */
export async function lockNamespace(work: SchemaWork, namespace: string, owner: string, now: number): Promise<boolean> {
  const old = { renewedAt: { $lte: now - LOCK_LIFETIME_MS } };
  const ahead = { renewedAt: { $gte: now + LOCK_LIFETIME_MS } };
  try {
    await locksOf(work.db).updateOne(
      { _id: namespace, $or: [{ owner }, old, ahead] },
      { $set: { owner, renewedAt: now } },
      { upsert: true, ...work.time() },
    );
    return true;
  } catch (error) {
    // The lock is there, and nothing of it matched.
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

export async function unlockNamespace(work: SchemaWork, namespace: string, owner: string): Promise<void> {
  await locksOf(work.db).deleteOne({ _id: namespace, owner }, work.time());
}

const DUPLICATE_KEY = 11000;

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}
