import { MongoServerError } from 'mongodb';
import { physicalTable } from '#engine/model/physical-names.ts';
import { FIRST_FORMAT_VERSION, formatOf, schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { type Schema, schemaHash } from '#protocol/schema.ts';
import { metaOf, type PendingChange, type SchemaDocument, type SchemaWork, schemasOf } from './collections.ts';

export function readDocument(work: Pick<SchemaWork, 'db' | 'time'>, namespace: string): Promise<SchemaDocument | null> {
  return schemasOf(work.db).findOne({ _id: namespace }, work.time());
}

export async function readSchema(work: SchemaWork, namespace: string): Promise<StoredSchema | null> {
  const document = await readDocument(work, namespace);
  const stored = storedOf(document);
  if (stored === null) return null;
  // A crash before the change began has left the mark that holds operations back; the next sync takes it over.
  const isUnfinished = document?.pending !== undefined || document?.changing !== undefined;
  return isUnfinished ? { ...stored, isUnfinished } : stored;
}

/** Null if the first sync of the namespace is not finished. */
export function storedOf(document: SchemaDocument | null): StoredSchema | null {
  if (document?.hash === undefined) return null;
  const { _id: namespace, revision, hash } = document;
  return { namespace, revision, hash, schema: storedSchema(document), updatedAt: String(document.updatedAt) };
}

export function storedSchema(document: SchemaDocument | null): Schema {
  return document?.schema === undefined ? { tables: [] } : schemaOfText(document.schema);
}

/** Collections of the declared tables. */
export async function collectionsOf(work: Pick<SchemaWork, 'db' | 'time'>, namespace: string): Promise<string[]> {
  const { tables } = storedSchema(await readDocument(work, namespace));
  return tables.map(({ name }) => physicalTable(namespace, name));
}

/**
 * Announces a change of the namespace to every sidecar. A crash after this holds operations on rows back until the next
 * change, which takes the mark over; nothing else has changed.
 * @throws StaleSchemaError if the stored revision is not `revision`, null before the first sync
 */
export async function announce(work: SchemaWork, namespace: string, revision: number | null, token: string) {
  try {
    const { matchedCount, upsertedCount } = await schemasOf(work.db).updateOne(
      { _id: namespace, revision: revision ?? 0, pending: { $exists: false } },
      { $set: { changing: { token } } },
      // The upsert takes `_id` and `revision` from the filter.
      { upsert: revision === null, ...work.time() },
    );
    if (matchedCount + upsertedCount === 0) throw new StaleSchemaError(namespace);
  } catch (error) {
    if (isDuplicateKey(error)) throw new StaleSchemaError(namespace);
    throw error;
  }
}

/** Withdraws the announcement: operations on rows go on, and nothing was changed. */
export async function withdraw(work: SchemaWork, namespace: string, token: string): Promise<void> {
  await schemasOf(work.db).updateOne(
    { _id: namespace, 'changing.token': token, pending: { $exists: false } },
    { $unset: { changing: '' } },
    work.time(),
  );
}

/** After this the change is finished in any case: by this sidecar, or by the next one that changes the namespace. */
export async function storePending(work: SchemaWork, namespace: string, pending: PendingChange): Promise<void> {
  const { matchedCount } = await schemasOf(work.db).updateOne(
    { _id: namespace, 'changing.token': pending.token, pending: { $exists: false } },
    { $set: { pending } },
    work.time(),
  );
  if (matchedCount === 0) throw new StaleSchemaError(namespace);
}

/** Takes over a change that was cut off: another sidecar that works on it stops at its next step. */
export async function takeOver(work: SchemaWork, namespace: string, pending: PendingChange, token: string) {
  const { matchedCount } = await schemasOf(work.db).updateOne(
    { _id: namespace, 'pending.token': pending.token },
    { $set: { 'pending.token': token, changing: { token } } },
    work.time(),
  );
  if (matchedCount === 0) throw new StaleSchemaError(namespace);
  return { ...pending, token };
}

/** Before each step: the steps before `position` are done, and the change still belongs to this sidecar. */
export async function advance(work: SchemaWork, namespace: string, { token }: PendingChange, position: number) {
  const { matchedCount } = await schemasOf(work.db).updateOne(
    { _id: namespace, 'pending.token': token },
    { $set: { 'pending.position': position } },
    work.time(),
  );
  if (matchedCount === 0) throw takenOver(namespace);
}

/** Stores the new schema and lets operations on rows go on, in one statement. */
export async function finish(
  work: SchemaWork,
  namespace: string,
  { token }: PendingChange,
  schema: Schema,
  now: number,
): Promise<void> {
  await raiseFormat(work, schema);
  const { matchedCount } = await schemasOf(work.db).updateOne(
    { _id: namespace, 'pending.token': token },
    {
      $inc: { revision: 1 },
      $set: { hash: schemaHash(schema), schema: textOfSchema(schema), updatedAt: new Date(now).toISOString() },
      $unset: { changing: '', pending: '' },
    },
    work.time(),
  );
  if (matchedCount === 0) throw takenOver(namespace);
}

function takenOver(namespace: string): ApiError {
  return new ApiError('conflict_retry', `another sidecar has taken over the schema change of namespace ${namespace}`);
}

/** Call before storing a schema, or a change that leads to it, that an older program would not understand. */
export async function raiseFormat(work: SchemaWork, schema: Schema): Promise<void> {
  const value = formatOf(schema);
  if (value === FIRST_FORMAT_VERSION) return;
  await metaOf(work.db).updateOne({ _id: 'format', value: { $lt: value } }, { $set: { value } }, work.time());
}

const DUPLICATE_KEY = 11000;

function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}
