import type { QueueRow } from '#engine/queues.ts';
import { LAST_QUEUED_FIELD } from '../documents.ts';
import type { SchemaWork } from '../schema/collections.ts';
import { queueDocument, queuesOf } from './collections.ts';
import { JournalMarks } from './marks.ts';

/** What moving whole namespaces needs of their queues. */

export async function writeQueue(work: SchemaWork, row: QueueRow): Promise<void> {
  const { _id, ...fields } = queueDocument(row);
  await queuesOf(work.db).replaceOne({ _id }, fields, { upsert: true, ...work.time() });
}

/** Whether one of the collections has a document that was changed by a write beyond the position. */
export async function hasHalfApplied(
  work: SchemaWork,
  { journal, position, past }: QueueRow,
  collections: readonly string[],
): Promise<boolean> {
  if (journal === null) return false;
  // What the journal had applied before it lost the queue, and got it again.
  const known = past.filter((owner) => owner.journal === journal).map((owner) => owner.position);
  const marks = new JournalMarks(journal);
  const isBeyond = { $gte: marks.at(Math.max(position, ...known) + 1), $lte: marks.last };
  for (const name of collections) {
    const found = await work.db
      .collection(name)
      .findOne({ [LAST_QUEUED_FIELD]: isBeyond }, { projection: { _id: 1 }, ...work.time() });
    if (found !== null) return true;
  }
  return false;
}
