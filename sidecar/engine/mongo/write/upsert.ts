import type { Document } from 'mongodb';
import { affectedExisting, upsertChange } from '#engine/model/upsert-change.ts';
import type { Write } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Table } from '#protocol/schema.ts';
import type { Value } from '#protocol/values.ts';
import { collectionOf, fieldOf, toBson } from '../documents.ts';
import { failureOf } from '../failures.ts';
import { allOf, columnNamed } from '../read.ts';
import { marked, type Operation, unmarked, type WriteCall, type WriteOutcome } from './call.ts';
import { type CompiledChange, compileChange } from './change.ts';
import { newDocuments, plannedRows, withMark } from './insert.ts';
import { columnsOfIndex, isSameSet, OWN_INDEX, violation } from './unique-sets.ts';
import { checkRange, exists } from './update.ts';

type Upsert = Write & { readonly op: 'upsert' };

/**
 * Updates, else inserts, and repeats if another writer has inserted meanwhile. MongoDB's own upsert sometimes fails if
 * many run at once, and uses up ids for rows that exist.
 */
export async function upsert(call: WriteCall, write: Upsert): Promise<WriteOutcome> {
  const { target, operation } = call;
  const key = keyMatch(call, write);
  let document: Document | undefined;
  for (;;) {
    const affected = await changeExisting(call, write, key);
    if (affected !== null) return outcome(affected, key);
    if (write.insertFault !== undefined) throw write.insertFault;
    document ??= await documentOf(call, write);
    const index = await insertOne(call, withMark(document, operation));
    if (index === undefined || index === OWN_INDEX) return outcome(1, key);
    const columns = columnsOfIndex(target, index);
    const isOwnKey = columns !== null && isSameSet(columns, write.keys);
    if (!isOwnKey && !(await exists(call, key))) throw violation(target, index, '', '; nothing was changed');
  }
}

function outcome(affected: number, key: Document): WriteOutcome {
  return { result: `{"affected":${affected}}`, marked: key };
}

async function documentOf(call: WriteCall, { row }: Upsert): Promise<Document> {
  const planned = plannedRows(call.operation, [row]).map((planned) => ({ ...planned, path: 'row' }));
  const [document] = await newDocuments(call, planned);
  if (document !== undefined) return document;
  throw new ApiError('constraint_violation', 'the generator of the primary key is at its end; nothing was changed');
}

export function keyMatch(
  { target: { table } }: Pick<WriteCall, 'target'>,
  { keys, row }: Pick<Upsert, 'keys' | 'row'>,
): Document {
  return allOf(
    keys.map((name) => {
      const value: Value = row.get(name) ?? null;
      return { [fieldOf(name)]: value === null ? null : toBson(columnNamed(table, name), value) };
    }),
  );
}

/** Change of a row that exists. */
export function compileUpsertChange(table: Table, write: Upsert, operation: Operation | null): CompiledChange {
  const { set, inc } = upsertChange(write);
  return compileChange(table, set, inc, operation);
}

/** Number of affected rows if the row exists, and is as wanted now; null if it does not exist. */
async function changeExisting(call: WriteCall, write: Upsert, key: Document): Promise<number | null> {
  const { target, operation } = call;
  const isDone = async (): Promise<boolean> =>
    // An attempt that was cut off has done it.
    operation?.isResumed === true && (await exists(call, allOf([key, marked(operation)])));
  if (upsertChange(write).isEmpty) {
    if (!(await exists(call, key))) return null;
    return affectedExisting(write) === 1 || (await isDone()) ? 1 : 0;
  }
  const change = compileUpsertChange(target.table, write, operation);
  const selection = allOf([key, unmarked(operation)]);
  for (;;) {
    if (await changeOne(call, allOf([selection, ...change.guards]), change)) return 1;
    if (await isDone()) return 1;
    if (change.guards.length === 0) return null;
    await checkRange(call, selection, change.guards);
    // Else another writer has changed the row in between, and the sum is in range now.
    if (!(await exists(call, selection))) return null;
  }
}

async function changeOne(
  { session, target }: WriteCall,
  selection: Document,
  change: CompiledChange,
): Promise<boolean> {
  try {
    const { matchedCount } = await session.send((db, time) =>
      db.collection(collectionOf(target)).updateOne(selection, change.update, time),
    );
    return matchedCount > 0;
  } catch (error) {
    const failure = failureOf(error);
    throw failure.kind === 'duplicate' ? violation(target, failure.index, '', '; nothing was changed') : error;
  }
}

/** Undefined if the document was inserted; else the index that refused it, null if that is not known. */
async function insertOne({ session, target }: WriteCall, document: Document): Promise<string | null | undefined> {
  try {
    await session.send((db, time) => db.collection(collectionOf(target)).insertOne(document, time));
    return undefined;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== 'duplicate') throw error;
    return failure.index;
  }
}
