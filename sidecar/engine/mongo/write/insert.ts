import { createHash } from 'node:crypto';
import { BSON, type Document, Long, ObjectId } from 'mongodb';
import type { Row } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Column, Table } from '#protocol/schema.ts';
import { writeValue } from '#protocol/values.ts';
import { collectionOf, fieldOf, fromBson, MARKS_FIELD, ORDER_FIELD, toBson, valueIn } from '../documents.ts';
import { failureOf, insertedBefore } from '../failures.ts';
import { queuedRowId } from '../queue/marks.ts';
import { columnNamed } from '../read.ts';
import type { Operation, WriteCall, WriteOutcome } from './call.ts';
import { drawNumbers, type Generator, generatorOf } from './generators.ts';
import { OWN_INDEX, violation } from './unique-sets.ts';

/** An insert stopped in the middle: the rows before stay, and this is the final result (contract section 5). */
export class PartialInsertError extends ApiError {}

export interface PlannedRow {
  readonly _id: ObjectId;
  readonly row: Row;
  /** Path in a request: "rows[3]". */
  readonly path: string;
  /** Mark of its entry in a queue. */
  readonly mark?: Readonly<Record<string, ObjectId>>;
}

/**
 * Inserts in order and stops at the first row that collides with another one. With a key each document's `_id` is made
 * of the operation's, so that an attempt after a crash finds the inserted rows and goes on after them. It inserts a row
 * again if another caller has deleted it since.
 */
export async function insert(call: WriteCall, rows: readonly Row[]): Promise<WriteOutcome> {
  const { target, operation } = call;
  const planned = plannedRows(operation, rows);
  for (;;) {
    const there = operation?.isResumed === true ? await documentsThere(call, planned) : new Map<string, Document>();
    const missing = planned.filter(({ _id }) => !there.has(_id.toHexString()));
    const documents = await newDocuments(call, missing);
    const stop = await insertAll(call, documents);
    if (stop === null && documents.length < missing.length) {
      const inserted = there.size + documents.length;
      throw stopped(inserted, `the generator of the primary key is at its end${left(inserted)}`);
    }
    if (stop === null) {
      for (const document of documents) there.set((document._id as ObjectId).toHexString(), document);
      const ids = idsText(
        target.table,
        planned.map(({ _id }) => there.get(_id.toHexString()) ?? {}),
      );
      return { result: `{"inserted":${rows.length},"ids":[${ids}]}`, marked: null };
    }
    // The earlier attempt was still running and has inserted this row. A server may name another index.
    if (operation?.isResumed === true) {
      if (stop.index === OWN_INDEX) continue;
      if ((await documentsThere(call, missing.slice(stop.inserted, stop.inserted + 1))).size > 0) continue;
    }
    const count = there.size + stop.inserted;
    throw stopped(
      count,
      violation(target, stop.index, `${missing[stop.inserted]?.path ?? 'rows'}: `, left(count)).message,
    );
  }
}

export function plannedRows(operation: Operation | null, rows: readonly Row[]): PlannedRow[] {
  const mark = operation?.kind === 'queued' ? { mark: { [operation.field]: operation.id } } : {};
  return rows.map((row, i) => ({ _id: rowId(operation, i), row, path: `rows[${i}]`, ...mark }));
}

function stopped(inserted: number, message: string): ApiError {
  const code = 'constraint_violation';
  return inserted === 0 ? new ApiError(code, message) : new PartialInsertError(code, message);
}

function left(inserted: number): string {
  if (inserted === 0) return '; nothing was inserted';
  return `; the ${inserted === 1 ? 'row' : `${inserted} rows`} before it stay${inserted === 1 ? 's' : ''} inserted`;
}

/** `_id` of the row at a place of the request; the same in every attempt. */
function rowId(operation: Operation | null, place: number): ObjectId {
  if (operation === null) return new ObjectId();
  if (operation.kind === 'queued') return queuedRowId(operation.id, place);
  const digest = createHash('sha256').update(operation.id.id).update(String(place)).digest();
  return new ObjectId(digest.subarray(0, 12));
}

export async function documentsThere(call: WriteCall, planned: readonly PlannedRow[]): Promise<Map<string, Document>> {
  const ids = planned.map(({ _id }) => _id);
  const found = await call.session.look((db, time) =>
    db
      .collection(collectionOf(call.target))
      .find({ _id: { $in: ids } }, time)
      .toArray(),
  );
  return new Map(found.map((document) => [document._id.toHexString(), document]));
}

/** Documents with their numbers, if the table has a generator; fewer documents if it reaches its end. */
export async function newDocuments(
  { session, target, known }: WriteCall,
  rows: readonly PlannedRow[],
): Promise<Document[]> {
  const documents = rows.map((planned) => newDocument(target.table, planned));
  const generator = generatorOf(target);
  if (generator === null || rows.length === 0) return documents;
  const wanted = rows.map(({ row }) => givenNumber(generator, row));
  const numbers = await drawNumbers(session, generator, wanted, known);
  return numbers.map((number, i) => ({ ...documents[i], ...numberField(target.table, generator, number) }));
}

function givenNumber({ column }: Generator, row: Row): bigint | null {
  const value = column === null ? null : (row.get(column) ?? null);
  return value === null ? null : BigInt(value as number | bigint);
}

function numberField(table: Table, { column, field }: Generator, number: bigint): Document {
  if (column === null || field === 'rows') return { [ORDER_FIELD]: Long.fromBigInt(number) };
  return { [fieldOf(column)]: toBson(columnNamed(table, column), number) };
}

const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
/** Text of so many characters, with all the small fields beside it, certainly fits. */
const SURELY_FITTING_CHARS = 4_000_000;

function newDocument(table: Table, { _id, row, path, mark }: PlannedRow): Document {
  const document: Document = { _id, ...mark };
  let chars = 0;
  for (const column of table.columns) {
    const value = row.get(column.name) ?? null;
    if (value === null) continue;
    const bson = toBson(column, value);
    if (typeof bson === 'string') chars += bson.length;
    document[fieldOf(column.name)] = bson;
  }
  if (chars > SURELY_FITTING_CHARS && BSON.calculateObjectSize(document) > MAX_DOCUMENT_BYTES - 1024) {
    throw new ApiError('value_too_long', `${path}: longer than a document of the database may be, 16 MiB`);
  }
  return document;
}

/** With the mark a repetition recognises a row that it has inserted, whatever others have changed in it. */
export function withMark(document: Document, operation: Operation | null): Document {
  return operation?.kind === 'keyed' ? { ...document, [MARKS_FIELD]: [operation.id] } : document;
}

export interface Stop {
  /** Number of documents that were inserted. */
  readonly inserted: number;
  readonly index: string | null;
}

export async function insertAll(
  { session, target, operation }: WriteCall,
  documents: readonly Document[],
): Promise<Stop | null> {
  let inserted = 0;
  if (documents.length === 0) return null;
  try {
    await session.send(async (db, time) => {
      const rest = documents.slice(inserted);
      const collection = db.collection(collectionOf(target));
      try {
        const [first, second] = rest;
        if (first !== undefined && second === undefined) await collection.insertOne(first, time);
        else await collection.insertMany(rest, { ordered: true, ...time });
      } catch (error) {
        inserted += insertedBefore(error);
        throw error;
      }
    });
    return null;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === 'conflict' && inserted > 0 && operation === null) {
      throw new ApiError('conflict_retry', `write conflict: gave up after 5 attempts${left(inserted)}`);
    }
    if (failure.kind !== 'duplicate') throw error;
    return { inserted, index: failure.index };
  }
}

/** `ids` of an insert is only for keys of a single column (InsertResult of the specification). */
function idsText(table: Table, documents: readonly Document[]): string {
  const [name, ...others] = table.primaryKey ?? [];
  if (name === undefined || others.length > 0) return '';
  const column: Column = columnNamed(table, name);
  return documents.map((document) => writeValue(column, fromBson(column, valueIn(document, fieldOf(name))))).join(',');
}
