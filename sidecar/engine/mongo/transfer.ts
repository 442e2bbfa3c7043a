import type { Long } from 'mongodb';
import type { QueueRow } from '#engine/queues.ts';
import { findTable, type Schema, type Table } from '#protocol/schema.ts';
import { hasGenerator } from '../model/physical-indexes.ts';
import { physicalTable, quarantineName } from '../model/physical-names.ts';
import { schemaOfText } from '../model/schema-text.ts';
import type { GeneratorState, KeptObject, NewKeptObject, Transfer } from '../transfer.ts';
import { OWNED_MARK_FIELD } from './documents.ts';
import { queueDocument, queuesOf } from './queue/collections.ts';
import { JournalMarks } from './queue/marks.ts';
import {
  type GeneratorDocument,
  generatorsOf,
  metaOf,
  quarantineOf,
  type RunSchemaWork,
  type SchemaWork,
  schemasOf,
} from './schema/collections.ts';
import { raiseGenerator, reserveQuarantineIds } from './schema/generators.ts';
import { objectOf } from './schema/quarantine.ts';
import { collectionsOf, readDocument, storedSchema } from './schema/store.ts';
import { createCollection } from './schema/whole.ts';

/** Part of the engine that moves whole namespaces. */
export function createTransfer(run: RunSchemaWork): Transfer {
  return {
    listNamespaces: (bounds) => run(bounds, listNamespaces),
    readMark: (name, bounds) => run(bounds, (work) => readMark(work, name)),
    writeMark: (name, value, bounds) => run(bounds, (work) => writeMark(work, name, value)),
    readGenerators: (namespace, bounds) => run(bounds, (work) => readGenerators(work, namespace)),
    raiseGenerators: (namespace, states, bounds) => run(bounds, (work) => raiseGenerators(work, namespace, states)),
    listKept: (namespace, bounds) => run(bounds, (work) => listKept(work, namespace)),
    createKept: (kept, _shape, bounds) => run(bounds, (work) => createKept(work, kept)),
    writeQueue: (row, bounds) => run(bounds, (work) => writeQueue(work, row)),
    hasHalfApplied: (queue, bounds) =>
      run(bounds, async (work) => hasHalfApplied(work, queue, await collectionsOf(work, queue.namespace))),
  };
}

async function listNamespaces(work: SchemaWork): Promise<string[]> {
  const declared = { hash: { $exists: true } };
  const found = await schemasOf(work.db)
    .find(declared, { projection: { _id: 1 }, ...work.time() })
    .sort({ _id: 1 })
    .toArray();
  return found.map(({ _id }) => _id);
}

async function readMark(work: SchemaWork, name: string): Promise<string | null> {
  const found = await metaOf(work.db).findOne({ _id: name }, work.time());
  return found === null ? null : String(found.value);
}

async function writeMark(work: SchemaWork, name: string, value: string | null): Promise<void> {
  if (value === null) await metaOf(work.db).deleteOne({ _id: name }, work.time());
  else await metaOf(work.db).updateOne({ _id: name }, { $set: { value } }, { upsert: true, ...work.time() });
}

/** Kind of number that a table draws; a name whose table is gone keeps the numbers of `autoIncrement`. */
function generatorOf(table: Table | null): 'ids' | 'rows' | null {
  if (table === null) return 'ids';
  if (table.primaryKey === undefined) return 'rows';
  return hasGenerator(table) ? 'ids' : null;
}

async function readGenerators(work: SchemaWork, namespace: string): Promise<GeneratorState[]> {
  const schema = await readTables(work, namespace);
  const last = new Map<string, bigint>();
  for (const table of schema.tables) {
    if (generatorOf(table) !== null) last.set(table.name, 0n);
  }
  const prefix = physicalTable(namespace, '');
  const found = await generatorsOf(work.db)
    .find({ _id: { $gte: prefix, $lt: `${prefix}~` } }, work.time())
    .toArray();
  for (const document of found) {
    const name = document._id.slice(prefix.length);
    const table = findTable(schema, name);
    const given = numberOf(document, generatorOf(table));
    if (given > 0n || last.has(name)) last.set(name, given);
  }
  return [...last].map(([table, lastId]) => ({ table, lastId }));
}

function numberOf(document: GeneratorDocument | null, generator: 'ids' | 'rows' | null): bigint {
  const last: Long | undefined = generator === null ? undefined : document?.[generator];
  return last === undefined ? 0n : BigInt(String(last));
}

async function raiseGenerators(work: SchemaWork, namespace: string, states: readonly GeneratorState[]): Promise<void> {
  const schema = await readTables(work, namespace);
  for (const { table, lastId } of states) {
    const generator = generatorOf(findTable(schema, table));
    if (generator !== null) await raiseGenerator(work, physicalTable(namespace, table), { [generator]: lastId });
  }
}

async function listKept(work: SchemaWork, namespace: string): Promise<KeptObject[]> {
  const found = await quarantineOf(work.db)
    .find({ namespace, isGone: { $exists: false } }, work.time())
    .sort({ _id: 1 })
    .toArray();
  const kept: KeptObject[] = [];
  for (const document of found) {
    const { definition, physical } = document;
    kept.push({ ...objectOf(document), definition, physical, lastId: await keptLastId(work, document) });
  }
  return kept;
}

/** Null without a generator. */
async function keptLastId(
  work: SchemaWork,
  { kind, namespace, table, definition }: Pick<KeptObject, 'kind' | 'namespace' | 'table' | 'definition'>,
): Promise<bigint | null> {
  const generator = keptGenerator({ kind, table, definition });
  if (generator === null) return null;
  return numberOf(
    await generatorsOf(work.db).findOne({ _id: physicalTable(namespace, table) }, work.time()),
    generator,
  );
}

function keptGenerator({ kind, table, definition }: Pick<KeptObject, 'kind' | 'table' | 'definition'>) {
  const declared = kind === 'table' ? findTable(schemaOfText(definition), table) : null;
  return declared === null ? null : generatorOf(declared);
}

/**
 * The object is out of sight until its collection exists. After a crash the next purge or schema change removes the
 * rest.
 */
async function createKept(work: SchemaWork, kept: NewKeptObject): Promise<KeptObject> {
  const { lastId, ...about } = kept;
  const { namespace, table, column } = about;
  const id = await reserveQuarantineIds(work, 1);
  const physical = quarantineName(id, physicalTable(namespace, table), column);
  await quarantineOf(work.db).insertOne({ _id: id, ...about, physical, isGone: true }, work.time());
  await createCollection(work, physical);
  const generator = keptGenerator(kept);
  if (lastId !== null && generator !== null) {
    await raiseGenerator(work, physicalTable(namespace, table), { [generator]: lastId });
  }
  await quarantineOf(work.db).updateOne({ _id: id }, { $unset: { isGone: '' } }, work.time());
  return { ...about, id, physical, lastId };
}

async function readTables(work: SchemaWork, namespace: string): Promise<Schema> {
  return storedSchema(await readDocument(work, namespace));
}

export async function writeQueue(work: SchemaWork, row: QueueRow): Promise<void> {
  const { _id, ...fields } = queueDocument(row);
  // A place within an entry is one of the rows that were there.
  await queuesOf(work.db).updateOne({ _id }, { $set: fields, $unset: { parts: '' } }, { upsert: true, ...work.time() });
}

/** Whether one of the collections has a document that was changed by a write beyond the position. */
export async function hasHalfApplied(
  work: SchemaWork,
  { journal, position, past }: QueueRow,
  collections: readonly string[],
): Promise<boolean> {
  // A fence sets the position to 0.
  const known = past.map((place) => place.position);
  const marks = new JournalMarks(journal);
  const isBeyond = { $gte: marks.at(Math.max(position, ...known) + 1), $lte: marks.last };
  for (const name of collections) {
    const isHalf = { $or: [{ [marks.field]: isBeyond }, { [OWNED_MARK_FIELD]: isBeyond }] };
    const found = await work.db.collection(name).findOne(isHalf, { projection: { _id: 1 }, ...work.time() });
    if (found !== null) return true;
  }
  return false;
}
