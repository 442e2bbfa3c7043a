import type { Document, ObjectId } from 'mongodb';
import type { Write } from '#engine/rows.ts';
import { collectionOf } from '../documents.ts';
import { allOf, matchOf } from '../read.ts';
import { type KeyedOperation, unmarked, type WriteCall, type WriteOutcome } from './call.ts';
import { insert } from './insert.ts';
import { update } from './update.ts';
import { upsert } from './upsert.ts';

export function applyWrite(call: WriteCall, write: Write): Promise<WriteOutcome> {
  switch (write.op) {
    case 'insert':
      return insert(call, write.rows);
    case 'update':
      return update(call, write);
    case 'upsert':
      return upsert(call, write);
    case 'delete':
      return remove(call, write);
    default:
      return write satisfies never;
  }
}

/** Ids in one plan: its record stays far below 16 MiB. */
const PLANNED_IDS = 5000;

/**
 * A single statement. With a key the ids of the rows are stored first, so that a repetition knows their number. A
 * repetition in a queue is harmless: it skips rows of later writes.
 */
async function remove(call: WriteCall, { filter }: Write & { readonly op: 'delete' }): Promise<WriteOutcome> {
  const { operation } = call;
  const selection = matchOf(filter);
  const affected =
    operation?.kind === 'keyed'
      ? await deletePlanned(call, selection, operation)
      : await deleteAll(call, allOf([selection, unmarked(operation)]));
  return { result: `{"affected":${affected}}`, marked: null };
}

/**
 * After a crash a plan is left, of whose rows some are deleted. They count as deleted by this write, whichever writer
 * did it.
 */
async function deletePlanned(call: WriteCall, selection: Document, operation: KeyedOperation): Promise<number> {
  let affected = 0;
  if (operation.plan !== null) {
    const { ids, affected: before } = operation.plan;
    affected = before + ids.length - (await countThere(call, ids));
    affected += await deleteAll(call, allOf([{ _id: { $in: ids } }, selection]));
    // The plan was the last one: rows that match now are newer.
    if (ids.length < PLANNED_IDS) return affected;
  }
  for (;;) {
    const ids = await idsOf(call, selection);
    if (ids.length === 0) return affected;
    await operation.savePlan({ ids, affected });
    affected += await deleteAll(call, allOf([{ _id: { $in: ids } }, selection]));
    if (ids.length < PLANNED_IDS) return affected;
  }
}

async function deleteAll({ session, target }: WriteCall, selection: Document): Promise<number> {
  const { deletedCount } = await session.send((db, time) =>
    db.collection(collectionOf(target)).deleteMany(selection, time),
  );
  return deletedCount;
}

function countThere({ session, target }: WriteCall, ids: readonly ObjectId[]): Promise<number> {
  return session.look((db, time) => db.collection(collectionOf(target)).countDocuments({ _id: { $in: ids } }, time));
}

async function idsOf({ session, target }: WriteCall, selection: Document): Promise<ObjectId[]> {
  const options = { projection: { _id: 1 }, limit: PLANNED_IDS, batchSize: PLANNED_IDS + 1 } as const;
  const found = await session.look((db, time) =>
    db
      .collection(collectionOf(target))
      .find(selection, { ...options, ...time })
      .toArray(),
  );
  return found.map(({ _id }) => _id);
}
