import { type IndexDescriptionInfo, MongoServerError } from 'mongodb';
import { physicalIndexes } from '#engine/model/physical-indexes.ts';
import type { Table } from '#protocol/schema.ts';
import { ORDER_FIELD } from '../documents.ts';
import type { SchemaWork, StepWork } from './collections.ts';

/** MongoDB's own index over `_id`. */
const OWN_INDEX = '_id_';
const NAMESPACE_NOT_FOUND = 26;

/** An index of a collection, with all its properties. */
export interface CollectionIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  /** Fields of the documents that count: NULL is an absent field, and equals nothing. */
  readonly present: readonly string[];
}

/** Index of the key or of the order of insertion, then those of `physicalIndexes`. */
export function indexesOf(physical: string, table: Table): CollectionIndex[] {
  const { primaryKey } = table;
  const first: CollectionIndex =
    primaryKey === undefined
      ? { name: ORDER_FIELD, columns: [ORDER_FIELD], unique: false, present: [] }
      : { name: '_key', columns: primaryKey, unique: true, present: [] };
  const nullable = new Set(table.columns.filter((column) => column.nullable).map(({ name }) => name));
  const others = physicalIndexes(physical, table).map((index) => ({
    ...index,
    // Without a nullable column every document counts, and the index serves more queries.
    present: index.unique ? index.columns.filter((name) => nullable.has(name)) : [],
  }));
  return [first, ...others];
}

/** Drops the indexes that the table does not want any more. May be repeated. */
export async function dropIndexes(work: StepWork, physical: string, wanted: readonly CollectionIndex[]) {
  const staying = new Set(wanted.map(indexText));
  for (const index of await madeIndexes(work, physical)) {
    if (staying.has(indexText(index))) continue;
    await work.checkTurn();
    await work.db.collection(physical).dropIndex(index.name, work.time());
  }
}

/** Makes exactly the indexes of the table. May be repeated. */
export async function remakeIndexes(work: StepWork, physical: string, table: Table): Promise<void> {
  const wanted = indexesOf(physical, table);
  await dropIndexes(work, physical, wanted);
  await makeIndexes(work, physical, wanted);
}

/** Makes missing indexes. May be repeated. The rows are known to be unique where they must be. */
export async function makeIndexes(work: StepWork, physical: string, wanted: readonly CollectionIndex[]) {
  const made = new Set((await madeIndexes(work, physical)).map(indexText));
  const missing = wanted.filter((index) => !made.has(indexText(index)));
  if (missing.length === 0) return;
  await work.checkTurn();
  await work.db.collection(physical).createIndexes(missing.map(description), work.time());
}

function description({ name, columns, unique, present }: CollectionIndex) {
  return {
    name,
    key: new Map(columns.map((column) => [column, 1 as const])),
    ...(unique ? { unique } : {}),
    ...(present.length === 0
      ? {}
      : { partialFilterExpression: Object.fromEntries(present.map((column) => [column, { $exists: true }])) }),
  };
}

/** Existing indexes; none if the collection does not exist. */
async function madeIndexes(work: SchemaWork, physical: string): Promise<CollectionIndex[]> {
  try {
    const found = await work.db.collection(physical).indexes(work.time());
    return found.filter(({ name }) => name !== OWN_INDEX).map(readIndex);
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return [];
    throw error;
  }
}

function readIndex({ name, key, unique, partialFilterExpression }: IndexDescriptionInfo): CollectionIndex {
  return {
    name: String(name),
    columns: Object.keys(key),
    unique: unique === true,
    present: Object.keys(partialFilterExpression ?? {}),
  };
}

function indexText({ name, columns, unique, present }: CollectionIndex): string {
  return [name, unique, columns.join(' '), present.join(' ')].join(', ');
}
