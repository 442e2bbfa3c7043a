import { DROPPED, followed, type KeptColumn, keptOfText, textOfKept } from '#engine/model/kept.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { KeptCopy, KeptPlace } from '#engine/pending/plan.ts';
import type { QuarantinedObject } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Table } from '#protocol/schema.ts';
import { ORDER_FIELD } from '../documents.ts';
import {
  type QuarantineDocument,
  quarantineOf,
  type SchemaPlace,
  type SchemaWork,
  type StepWork,
} from './collections.ts';
import { countRows, createCollection, dropCollection, renameCollection } from './whole.ts';

/**
 * Moves a table with its rows out of the schema; its generator is remembered by its name anyway. After a crash the
 * table is renamed and not yet listed, until the change is finished.
 */
export async function keepTable(work: StepWork, place: SchemaPlace, kept: { table: Table } & KeptPlace): Promise<void> {
  const { name } = kept.table;
  await renameCollection(work, physicalTable(place.namespace, name), kept.physical);
  await register(work, place, kept, { kind: 'table', table: name, column: null });
  await detachColumns(work, place.namespace, name, kept.id);
}

/**
 * Copies the values of a column with the identity of their rows; the caller removes the column from the rows after
 * that. Each copy has the `_id` of its row, so that copying again makes no second one.
 */
export async function keepColumn(work: StepWork, place: SchemaPlace, table: Table, copy: KeptCopy): Promise<void> {
  const { column, physical: kept } = copy;
  const identity = keyFields(table);
  await createCollection(work, kept);
  const names = identity.map((_, position) => `k${position}`);
  const fields = Object.fromEntries(identity.map((name, position) => [`k${position}`, `$${name}`]));
  const copying = work.db
    .collection(physicalTable(place.namespace, table.name))
    .aggregate(
      [
        { $match: { [column.name]: { $exists: true } } },
        { $project: { ...fields, value: `$${column.name}` } },
        { $merge: { into: kept, on: '_id', whenMatched: 'replace', whenNotMatched: 'insert' } },
      ],
      work.time(),
    );
  await work.checkTurn();
  await copying.toArray();
  const key = new Map(names.map((name) => [name, 1 as const]));
  await work.checkTurn();
  await work.db.collection(kept).createIndexes([{ name: '_key', key }], work.time());
  await register(work, place, copy, { kind: 'column', table: table.name, column: column.name });
}

/** Fields that identify a row: the key, or the order of insertion. */
export function keyFields(table: Table): readonly string[] {
  return table.primaryKey ?? [ORDER_FIELD];
}

async function register(
  work: StepWork,
  { namespace, now }: SchemaPlace,
  { id, physical, definition }: KeptPlace,
  about: Pick<QuarantineDocument, 'kind' | 'table' | 'column'>,
): Promise<void> {
  const rows = await countRows(work, physical, {});
  const quarantinedAt = new Date(now).toISOString();
  const document = { namespace, ...about, physical, definition, rows, quarantinedAt };
  await work.checkTurn();
  await quarantineOf(work.db).replaceOne({ _id: id }, document, { upsert: true, ...work.time() });
}

/** Kept columns follow their table, and the new names of its key. */
export function followChange(work: StepWork, namespace: string, change: TableTransition): Promise<void> {
  const { from, to } = change;
  return changeKept(work, namespace, from.name, null, (kept) => ({ table: to.name, kept: followed(kept, change) }));
}

/** Kept columns of a table that leaves the schema. */
export function detachColumns(work: StepWork, namespace: string, table: string, goneWith = DROPPED): Promise<void> {
  return changeKept(work, namespace, table, null, (kept) => ({ table, kept: { ...kept, goneWith } }));
}

/** Kept columns of a table that comes back. */
export function attachColumns(work: StepWork, namespace: string, table: string, goneWith: number): Promise<void> {
  return changeKept(work, namespace, table, goneWith, (kept) => ({ table, kept: { ...kept, goneWith: null } }));
}

async function changeKept(
  work: StepWork,
  namespace: string,
  table: string,
  goneWith: number | null,
  change: (kept: KeptColumn) => { readonly table: string; readonly kept: KeptColumn },
): Promise<void> {
  const quarantine = quarantineOf(work.db);
  const found = await quarantine
    .find({ namespace, kind: 'column', table, isGone: { $exists: false } }, work.time())
    .toArray();
  for (const { _id, definition } of found) {
    const kept = keptOfText(definition);
    if (kept.goneWith !== goneWith) continue;
    const changed = change(kept);
    await work.checkTurn();
    const update = { $set: { table: changed.table, definition: textOfKept(changed.kept) } };
    await quarantine.updateOne({ _id }, update, work.time());
  }
}

/** Oldest first; null means all namespaces. */
export async function listQuarantine(work: SchemaWork, namespace: string | null): Promise<QuarantinedObject[]> {
  const found = await quarantineOf(work.db)
    .find({ ...(namespace === null ? {} : { namespace }), isGone: { $exists: false } }, work.time())
    .sort({ _id: 1 })
    .toArray();
  return found.map(objectOf);
}

/** @throws ApiError `invalid_request` if nothing has that id */
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
 * Deletes a kept object for good. It is out of sight first: a crash leaves an invisible rest, which the next purge or
 * schema change removes.
 */
export async function purgeObject(work: SchemaWork, id: number): Promise<void> {
  await markGone(work, id);
  await removeGone(work);
}

/** Hides an object; `removeGone` deletes it. */
export async function markGone(work: SchemaWork, id: number): Promise<void> {
  await quarantineOf(work.db).updateOne({ _id: id }, { $set: { isGone: true } }, work.time());
}

export async function removeGone(work: SchemaWork): Promise<void> {
  for (const { _id, physical } of await quarantineOf(work.db).find({ isGone: true }, work.time()).toArray()) {
    await dropCollection(work, physical);
    await forgetObject(work, _id);
  }
}

/** Its collection is dropped, or is a table again. */
export async function forgetObject(work: SchemaWork, id: number): Promise<void> {
  await quarantineOf(work.db).deleteOne({ _id: id }, work.time());
}
