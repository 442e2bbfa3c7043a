import type { Document } from 'mongodb';
import { ApiError } from '../../../db_connector/protocol/errors.ts';
import type { Table } from '../../../db_connector/protocol/schema.ts';
import type { Value } from '../../../db_connector/protocol/values.ts';
import type { Row, Write } from '../engine.ts';
import { type CompiledChange, compileChange } from './compile-change.ts';
import { allOf } from './compile-filter.ts';
import { collectionOf, fieldOf, toBson } from './documents.ts';
import { failureOf } from './failures.ts';
import { newDocuments, plannedRows, withMark } from './insert.ts';
import { columnNamed } from './read.ts';
import { columnsOfIndex, isSameSet, OWN_INDEX, violation } from './unique-sets.ts';
import { marked, type Operation, unmarked, type WriteCall, type WriteOutcome } from './write-call.ts';

type Upsert = Write & { readonly op: 'upsert' };

const NO_INC: Row = new Map();

/**
 * Update, else insert, and again where somebody else has inserted meanwhile. MongoDB's own upsert fails now and then
 * when many come at once, and makes ids for rows that exist.
 */
export async function upsert(call: WriteCall, write: Upsert): Promise<WriteOutcome> {
  const { target, operation } = call;
  const key = keyMatch(call, write);
  const outcome: WriteOutcome = { result: '{"affected":1}', marked: key };
  let document: Document | undefined;
  for (;;) {
    if (await changeExisting(call, write, key)) return outcome;
    if (document === undefined) {
      const planned = plannedRows(operation, [write.row]).map((row) => ({ ...row, path: 'row' }));
      [document] = await newDocuments(call, planned);
      if (document === undefined) {
        throw new ApiError(
          'constraint_violation',
          'the generator of the primary key is at its end; nothing was changed',
        );
      }
    }
    const index = await insertOne(call, withMark(document, operation));
    if (index === undefined || index === OWN_INDEX) return outcome;
    const columns = columnsOfIndex(target, index);
    const isOwnKey = columns !== null && isSameSet(columns, write.keys);
    if (!isOwnKey && !(await exists(call, key))) throw violation(target, index, '', '; nothing was changed');
  }
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

/** What becomes of a row that is there. */
export function compileUpsertChange(
  table: Table,
  { row, update }: Pick<Upsert, 'row' | 'update'>,
  operation: Operation | null,
): CompiledChange {
  const set: Row = new Map(update.map((name) => [name, row.get(name) ?? null]));
  return compileChange(table, set, NO_INC, operation);
}

/** Whether the row is there, and as it is to be. */
async function changeExisting(call: WriteCall, { row, update }: Upsert, key: Document): Promise<boolean> {
  const { session, target, operation } = call;
  if (update.length === 0) return exists(call, key);
  const change = compileUpsertChange(target.table, { row, update }, operation);
  const selection = allOf([key, unmarked(operation)]);
  try {
    const { matchedCount } = await session.send((db, time) =>
      db.collection(collectionOf(target)).updateOne(selection, change.update, time),
    );
    if (matchedCount > 0) return true;
  } catch (error) {
    const failure = failureOf(error);
    throw failure.kind === 'duplicate' ? violation(target, failure.index, '', '; nothing was changed') : error;
  }
  // A broken-off attempt has done it.
  return operation?.isResumed === true && (await exists(call, allOf([key, marked(operation)])));
}

async function exists({ session, target }: WriteCall, selection: Document): Promise<boolean> {
  const found = await session.look((db, time) =>
    db.collection(collectionOf(target)).findOne(selection, { projection: { _id: 1 }, ...time }),
  );
  return found !== null;
}

/** Undefined where it was inserted; else the index that refused, null where it is not known. */
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
