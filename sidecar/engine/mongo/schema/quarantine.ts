import type { QuarantinedObject } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { type QuarantineDocument, quarantineOf, type SchemaWork } from './collections.ts';
import { dropCollection } from './whole.ts';

/** Oldest first; null means of all namespaces. */
export async function listQuarantine(work: SchemaWork, namespace: string | null): Promise<QuarantinedObject[]> {
  const found = await quarantineOf(work.db)
    .find({ ...(namespace === null ? {} : { namespace }), isGone: { $exists: false } }, work.time())
    .sort({ _id: 1 })
    .toArray();
  return found.map(objectOf);
}

/** Throws `invalid_request` where nothing has that id. */
export async function quarantineDocument(work: SchemaWork, id: number): Promise<QuarantineDocument> {
  const found = await quarantineOf(work.db).findOne({ _id: id, isGone: { $exists: false } }, work.time());
  if (found === null) throw new ApiError('invalid_request', `nothing in quarantine has the id ${id}`);
  return found;
}

export function objectOf(document: QuarantineDocument): QuarantinedObject {
  const { _id: id, namespace, kind, table, column, rows, quarantinedAt } = document;
  return { id, namespace, kind, table, column, rows, quarantinedAt };
}

/**
 * Deletes a kept object for good. It is out of sight first: what a crash leaves is an invisible rest, which the next
 * purge or schema change removes.
 */
export async function purgeObject(work: SchemaWork, id: number): Promise<void> {
  await quarantineOf(work.db).updateOne({ _id: id }, { $set: { isGone: true } }, work.time());
  await removeGone(work);
}

export async function removeGone(work: SchemaWork): Promise<void> {
  const quarantine = quarantineOf(work.db);
  for (const { _id, physical } of await quarantine.find({ isGone: true }, work.time()).toArray()) {
    await dropCollection(work, physical);
    await quarantine.deleteOne({ _id }, work.time());
  }
}
