import type { Document } from 'mongodb';
import { uniqueSets } from '#engine/model/physical-indexes.ts';
import type { Write } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Table } from '#protocol/schema.ts';
import { collectionOf, fieldOf, toBson } from '../documents.ts';
import { failureOf } from '../failures.ts';
import { allOf, columnNamed, matchOf } from '../read.ts';
import { marked, type Operation, unmarked, type WriteCall, type WriteOutcome } from './call.ts';
import { type CompiledChange, compileChange } from './change.ts';
import { oneRowOf, violation } from './unique-sets.ts';

type Update = Write & { readonly op: 'update' };

/**
 * A single statement if that is exact: for one row, or for many rows if none of them can be refused. Else it looks
 * first whether a row would be refused. With a key the change itself marks each row, so that a repetition skips it.
 */
export async function update(call: WriteCall, write: Update): Promise<WriteOutcome> {
  const { target, operation } = call;
  const { table } = target;
  const change = compileChange(table, write.set, write.inc, operation);
  const selection = allOf([matchOf(write.filter), unmarked(operation)]);
  const oneRow = oneRowOf(table, write.filter);
  if (oneRow !== null || addsToUnique(table, write)) {
    const isStable = oneRow?.columns.every((name) => !write.set.has(name) && !write.inc.has(name)) === true;
    const among = isStable ? (oneRow?.match ?? {}) : {};
    const affected = await changeAtMostOne(call, among, () =>
      oneRow === null ? changeOnly(call, selection, change) : changeOne(call, selection, change),
    );
    return outcome(affected, among);
  }
  await checkRange(call, selection, change.guards);
  await checkCollisions(call, selection, write);
  const affected = await changeMany(call, allOf([selection, ...change.guards]), change);
  return outcome(
    operation?.kind === 'keyed' && operation.isResumed ? await countMarked(call, operation, {}) : affected,
    {},
  );
}

function outcome(affected: number, among: Document): WriteOutcome {
  return { result: `{"affected":${affected}}`, marked: affected === 0 ? null : among };
}

/**
 * If an attempt that was cut off has changed the row, before or meanwhile, another row that matches now must not be
 * changed.
 */
async function changeAtMostOne(call: WriteCall, among: Document, change: () => Promise<number>): Promise<number> {
  const { operation } = call;
  if (operation?.isResumed !== true) return change();
  if ((await countMarked(call, operation, among)) > 0) return 1;
  return (await change()) > 0 || (await countMarked(call, operation, among)) > 0 ? 1 : 0;
}

/**
 * Only after an attempt that was cut off, because it looks at every document. Writes of a queue come one after the
 * other, so that no other row can have taken the key: look only at the row with the key.
 */
async function countMarked({ session, target }: WriteCall, operation: Operation, among: Document): Promise<number> {
  const selection = allOf([operation.kind === 'queued' ? among : {}, marked(operation)]);
  return Number(await session.look((db, time) => db.collection(collectionOf(target)).countDocuments(selection, time)));
}

function addsToUnique(table: Table, { inc }: Update): boolean {
  return uniqueSets(table).some((set) => set.some((name) => inc.has(name)));
}

/** Changes at most one document. The condition includes the range of `inc`, so that it holds beside other writers. */
async function changeOne(call: WriteCall, selection: Document, change: CompiledChange): Promise<number> {
  const guarded = allOf([selection, ...change.guards]);
  for (;;) {
    const { matchedCount } = await sent(call, (collection, time) => collection.updateOne(guarded, change.update, time));
    if (matchedCount > 0 || change.guards.length === 0) return matchedCount;
    await checkRange(call, selection, change.guards);
    if (!(await exists(call, selection))) return 0;
    // Another writer has changed the row in between, and the sum is in range now.
  }
}

/** In a unique column at most one row may be added to (contract section 4). */
async function changeOnly(call: WriteCall, selection: Document, change: CompiledChange): Promise<number> {
  for (;;) {
    const [found, second] = await call.session.look((db, time) =>
      db
        .collection(collectionOf(call.target))
        .find(selection, { projection: { _id: 1 }, limit: 2, ...time })
        .toArray(),
    );
    if (found === undefined) return 0;
    if (second !== undefined) {
      throw new ApiError(
        'constraint_violation',
        'inc of a unique column matches more than one row; nothing was changed',
      );
    }
    const affected = await changeOne(call, allOf([{ _id: found._id }, selection]), change);
    if (affected > 0) return affected;
  }
}

async function changeMany(call: WriteCall, selection: Document, change: CompiledChange): Promise<number> {
  const { matchedCount } = await sent(call, (collection, time) =>
    collection.updateMany(selection, change.update, time),
  );
  return matchedCount;
}

type Sent = Parameters<Parameters<WriteCall['session']['send']>[0]>;
type Collection = ReturnType<Sent[0]['collection']>;

async function sent<T>(
  { session, target }: WriteCall,
  statement: (collection: Collection, time: Sent[1]) => Promise<T>,
): Promise<T> {
  try {
    return await session.send((db, time) => statement(db.collection(collectionOf(target)), time));
  } catch (error) {
    const failure = failureOf(error);
    throw failure.kind === 'duplicate' ? violation(target, failure.index) : error;
  }
}

export async function exists({ session, target }: WriteCall, selection: Document): Promise<boolean> {
  const found = await session.look((db, time) =>
    db.collection(collectionOf(target)).findOne(selection, { projection: { _id: 1 }, ...time }),
  );
  return found !== null;
}

/** @throws ApiError `invalid_value` if a document of the selection refuses the sum */
export async function checkRange(call: WriteCall, selection: Document, guards: readonly Document[]): Promise<void> {
  if (guards.length === 0 || !(await exists(call, allOf([selection, { $nor: [allOf(guards)] }])))) return;
  throw new ApiError('invalid_value', 'inc: the result is out of the range of its column; nothing was changed');
}

/**
 * Refuses values that would be in a unique column or index twice after all rows are changed, among these rows and
 * others.
 */
async function checkCollisions(call: WriteCall, selection: Document, { set }: Update): Promise<void> {
  const { session, target } = call;
  for (const columns of uniqueSets(target.table)) {
    const changed = columns.filter((name) => set.has(name));
    if (changed.length === 0 || changed.some((name) => set.get(name) === null)) continue;
    const kept = columns.filter((name) => !set.has(name));
    const alike = Object.fromEntries(changed.map((name) => [fieldOf(name), bsonIn(target.table, name, set)]));
    const present = Object.fromEntries(kept.map((name) => [fieldOf(name), { $exists: true }]));
    const groups = Object.fromEntries(kept.map((name, i) => [`k${i}`, `$${fieldOf(name)}`]));
    const pipeline = [
      { $match: allOf([present, { $or: [selection, alike] }]) },
      { $group: { _id: kept.length === 0 ? null : groups, rows: { $sum: 1 } } },
      { $match: { rows: { $gt: 1 } } },
      { $limit: 1 },
    ];
    const found = await session.look((db, time) =>
      db
        .collection(collectionOf(target))
        .aggregate(pipeline, { allowDiskUse: true, ...time })
        .toArray(),
    );
    if (found.length > 0) {
      throw new ApiError(
        'constraint_violation',
        `a value would stand twice: ${columns.join(', ')}; nothing was changed`,
      );
    }
  }
}

function bsonIn(table: Table, name: string, set: Update['set']) {
  const value = set.get(name) ?? null;
  return value === null ? null : toBson(columnNamed(table, name), value);
}
