import { type Document, Long } from 'mongodb';
import { laterPlace, type OwnedQueue, placesOfOwners } from '#engine/model/queue-places.ts';
import type { QueueRow } from '#engine/queues.ts';
import { failureOf } from '../failures.ts';
import { type SchemaWork, withTurn } from '../schema/collections.ts';
import { isTaken, renameCollection } from '../schema/whole.ts';
import { queueDocument, queueId, queuesOf, rowOf } from './collections.ts';

const OLD_QUEUES = '_queues';
/** Under this name no sidecar of an older version moves a position while the documents are read. */
const TAKEN_QUEUES = '_queues_taken';

/**
 * Brings the documents of `_queues`, which versions before 2026-12 kept with one owner a namespace, to `_journals`. A crash
 * may have cut this off at any point, and several sidecars may do it at once.
 */
export async function migrateQueues(work: SchemaWork): Promise<void> {
  await bringTaken(work);
  if (!(await isTaken(work, OLD_QUEUES))) return;
  const anyTime = withTurn(work, () => Promise.resolve());
  await renameCollection(anyTime, OLD_QUEUES, TAKEN_QUEUES);
  await bringTaken(work);
}

async function bringTaken(work: SchemaWork): Promise<void> {
  if (!(await isTaken(work, TAKEN_QUEUES))) return;
  const taken = work.db.collection(TAKEN_QUEUES);
  for (const document of await taken.find({}, work.time()).toArray()) await bring(work, document);
  await taken.drop(work.time());
}

async function bring(work: SchemaWork, document: Document): Promise<void> {
  const { journal, parts = 0 } = document;
  for (const place of placesOfOwners(ownedOf(document))) {
    await merge(work, place, place.journal === journal ? parts : 0);
  }
}

function ownedOf({ _id, journal, token, position, past }: Document): OwnedQueue {
  const owners = (past as Document[]).map((owner) => ({
    journal: String(owner.journal),
    token: Number(owner.token),
    position: Number(owner.position),
  }));
  return { namespace: String(_id), journal, token: Number(token), position: Number(position), past: owners };
}

async function merge(work: SchemaWork, place: QueueRow, parts: number): Promise<void> {
  const queues = queuesOf(work.db);
  try {
    await queues.insertOne({ ...queueDocument(place), ...(parts > 0 ? { parts } : {}) }, work.time());
    return;
  } catch (error) {
    if (failureOf(error).kind !== 'duplicate') throw error;
  }
  const known = await queues.findOne({ _id: queueId(place) }, work.time());
  if (known === null) return;
  const next = laterPlace(place, rowOf(known));
  if (next.position === Number(known.position) && next.token === Number(known.token)) return;
  const { token, position, past } = queueDocument(next);
  const unmoved = { _id: known._id, position: Long.fromNumber(Number(known.position)) };
  await queues.updateOne(unmoved, { $set: { token, position, past, parts } }, work.time());
}
