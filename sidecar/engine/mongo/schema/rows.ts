import { randomUUID } from 'node:crypto';
import { type AnyBulkWriteOperation, type Document, Int32, Long } from 'mongodb';
import { fillOf } from '#engine/model/column-change.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { Column } from '#protocol/columns.ts';
import { ORDER_FIELD, toBson } from '../documents.ts';
import type { SchemaWork, StepWork } from './collections.ts';
import { lastNumber, raiseGenerator } from './generators.ts';
import { keyFields } from './quarantine.ts';

const BATCH = 1000;
/**
 * Integers and decimals become each other. Every other type has only one form in a document, and so have decimals of
 * any scale.
 */
const CONVERSIONS: Partial<Record<Column['type'], { readonly type: string; readonly operator: string }>> = {
  int32: { type: 'int', operator: '$toInt' },
  int64: { type: 'long', operator: '$toLong' },
  decimal: { type: 'decimal', operator: '$toDecimal' },
};

/** A pass over documents. It selects the documents that it still has to change, so that it may be repeated. */
interface Pass {
  readonly filter: Document;
  readonly update: Document | readonly Document[];
}

/** Changes rows that are known to fit. After a crash some batches are done, and repeating it does the rest. */
export async function rewriteRows(work: StepWork, physical: string, change: TableTransition, now: number) {
  // First, while rows without key still know their order.
  await numberRows(work, physical, change, now);
  const passes = passesOf(change, now);
  const randoms = newColumns(change).filter((column) => fillOf(column, now).kind === 'random');
  if (passes.length === 0 && randoms.length === 0) return;
  const rows = work.db.collection(physical);
  for await (const batch of batches(work, physical)) {
    for (const { filter, update } of passes) {
      await work.checkTurn();
      await rows.updateMany({ ...batch, ...filter }, update as Document, work.time());
    }
    for (const { name } of randoms) await fillRandom(work, physical, name, batch);
  }
}

function newColumns({ to, sources }: TableTransition): Column[] {
  return to.columns.filter(({ name }) => !sources.has(name));
}

function passesOf(change: TableTransition, now: number): Pass[] {
  const { from, to, sources, removed } = change;
  const renamed = [...sources].filter(([name, source]) => source.name !== name);
  const gone = removed.map(({ name }) => name);
  if (from.primaryKey === undefined && to.primaryKey !== undefined) gone.push(ORDER_FIELD);
  const moved = {
    ...(renamed.length === 0
      ? {}
      : { $rename: Object.fromEntries(renamed.map(([name, source]) => [source.name, name])) }),
    ...(gone.length === 0 ? {} : { $unset: Object.fromEntries(gone.map((name) => [name, ''])) }),
  };
  const passes: Pass[] = Object.keys(moved).length === 0 ? [] : [{ filter: {}, update: moved }];
  for (const [name, source] of sources) {
    const column = to.columns.find((candidate) => candidate.name === name);
    if (column !== undefined) passes.push(...conversion(source, column));
  }
  for (const column of newColumns(change)) {
    const fill = fillOf(column, now);
    if (fill.kind !== 'constant' || fill.value === null) continue;
    passes.push({
      filter: { [column.name]: { $exists: false } },
      update: { $set: { [column.name]: toBson(column, fill.value) } },
    });
  }
  return passes;
}

function conversion(from: Column, to: Column): Pass[] {
  const target = CONVERSIONS[to.type];
  if (from.type === to.type || target === undefined) return [];
  return [
    {
      filter: { [to.name]: { $exists: true, $not: { $type: target.type } } },
      update: [{ $set: { [to.name]: { [target.operator]: `$${to.name}` } } }],
    },
  ];
}

/** Filters over `_id` that together select every document, each about a batch. */
async function* batches(work: SchemaWork, physical: string): AsyncGenerator<Document> {
  const rows = work.db.collection(physical);
  let after: Document = {};
  for (;;) {
    const [last] = await rows
      .find(range(after), { ...work.time(), projection: { _id: 1 } })
      .sort({ _id: 1 })
      .skip(BATCH - 1)
      .limit(1)
      .toArray();
    if (last === undefined) break;
    yield range({ ...after, $lte: last._id });
    after = { $gt: last._id };
  }
  yield range(after);
}

function range(bounds: Document): Document {
  return Object.keys(bounds).length === 0 ? {} : { _id: bounds };
}

async function fillRandom(work: StepWork, physical: string, column: string, within: Document): Promise<void> {
  const rows = work.db.collection(physical);
  const lacking = { [column]: { $exists: false } };
  const found = await rows.find({ ...within, ...lacking }, { ...work.time(), projection: { _id: 1 } }).toArray();
  if (found.length === 0) return;
  const updates = found.map(({ _id }) => ({
    updateOne: { filter: { _id, ...lacking }, update: { $set: { [column]: randomUUID() } } },
  }));
  await work.checkTurn();
  await rows.bulkWrite(updates, { ordered: false, ...work.time() });
}

/**
 * Numbers rows in the order in which they were read: new generated ids, and the order of rows that have lost their key.
 */
async function numberRows(work: StepWork, physical: string, change: TableTransition, now: number): Promise<void> {
  const { from, to } = change;
  const order = Object.fromEntries(keyFields(from).map((name) => [name, 1 as const]));
  for (const column of newColumns(change)) {
    if (fillOf(column, now).kind !== 'generated') continue;
    await number(work, physical, column, 'ids', order);
  }
  if (to.primaryKey === undefined && from.primaryKey !== undefined) {
    await number(work, physical, { name: ORDER_FIELD, type: 'int64' }, 'rows', order);
  }
}

/**
 * `physical` is the table's new name, whose generator continues. Numbers are written before the generator knows them: a
 * repetition continues after the highest of both.
 */
async function number(
  work: StepWork,
  physical: string,
  { name, type }: Pick<Column, 'name' | 'type'>,
  generator: 'ids' | 'rows',
  order: Readonly<Record<string, 1>>,
): Promise<void> {
  const lacking: Document = { [name]: { $exists: false } };
  let last = await lastNumber(work, physical, generator);
  const highest = await highestNumber(work, physical, name);
  if (highest > last) last = highest;
  const rows = work.db.collection(physical);
  // A single cursor for all rows: its order is by fields that do not change.
  const found = rows
    .find(lacking, { projection: { _id: 1 }, allowDiskUse: true, ...work.time() })
    .sort({ ...order, _id: 1 })
    .batchSize(BATCH);
  let updates: AnyBulkWriteOperation[] = [];
  const write = async () => {
    await work.checkTurn();
    if (updates.length > 0) await rows.bulkWrite(updates, { ordered: true, ...work.time() });
    await raiseGenerator(work, physical, { [generator]: last });
    updates = [];
  };
  for await (const { _id } of found) {
    last += 1n;
    const value = type === 'int32' ? new Int32(Number(last)) : Long.fromBigInt(last);
    updates.push({ updateOne: { filter: { _id, ...lacking }, update: { $set: { [name]: value } } } });
    if (updates.length === BATCH) await write();
  }
  await write();
}

async function highestNumber(work: SchemaWork, physical: string, name: string): Promise<bigint> {
  const [highest] = await work.db
    .collection(physical)
    .find({ [name]: { $exists: true } }, { projection: { [name]: 1 }, ...work.time() })
    .sort({ [name]: -1 })
    .limit(1)
    .toArray();
  return BigInt(String(highest?.[name] ?? 0));
}
