import SQLite from 'better-sqlite3';
import { ApiError } from '../../../db_connector/protocol/errors.ts';
import { rememberedAnswer } from '../remembered-answer.ts';
import type { Connection } from './connection.ts';
import type { BatchQuestion, BatchReply, BatchWork, Generator, InsertWork, WriteCall, WriteWork } from './messages.ts';
import { runBatch } from './run-batch.ts';
import { recall } from './run-read.ts';
import type { Physical } from './storage.ts';

const REMEMBER = `
  INSERT INTO _idempotency (kid, namespace, key, fingerprint, result, expires_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (kid, namespace, key)
  DO UPDATE SET fingerprint = excluded.fingerprint, result = excluded.result, expires_at = excluded.expires_at`;

/** Asks the API's thread for steps of a batch that need ids of earlier ones, and waits. @throws ApiError */
export type AskSteps = (call: WriteCall, question: BatchQuestion) => BatchReply;

/**
 * Runs one write inside the transaction of its group, and remembers its result there. What it throws has undone the
 * statement that failed; the caller undoes those before it.
 */
export function runWrite(connection: Connection, call: WriteCall, ask: AskSteps): string {
  const { slot } = call;
  if (slot !== null) {
    const remembered = recall(connection, [slot.kid, slot.namespace, slot.key, slot.now]);
    if (remembered !== null) return rememberedAnswer(remembered, slot);
  }
  connection.checkRevision(call.namespace, call.revision);
  const { work } = call;
  const result =
    work.do === 'batch' ? runBatch(connection, work, (question) => ask(call, question)) : runWork(connection, work);
  if (slot !== null) {
    const { kid, namespace, key, fingerprint, expiresAt } = slot;
    connection.own(REMEMBER).run(kid, namespace, key, fingerprint, result, expiresAt);
  }
  return result;
}

/** Whether a failure in the middle may leave a part that SQLite itself does not undo. */
export function needsSavepoint({ work, slot }: Pick<WriteCall, 'work' | 'slot'>): boolean {
  if (slot !== null || work.do === 'upsert' || work.do === 'batch') return true;
  if (work.do === 'insert') return work.values.length > work.width || work.generator !== null;
  return work.isSingleRow;
}

/** @param ended tables whose generators have given their last id, where more may come in the same transaction */
export function runWork(connection: Connection, work: WriteWork, ended: Set<string> | null = null): string {
  switch (work.do) {
    case 'insert':
      return insert(connection, work, ended);
    case 'change':
      return change(connection, work);
    case 'upsert':
      return upsert(connection, work, ended);
    default:
      return work satisfies never;
  }
}

function insert(
  connection: Connection,
  { statement, values, width, ids, generator }: InsertWork,
  ended: Set<string> | null,
): string {
  const generated: bigint[] = [];
  for (let start = 0; start < values.length; start += width) {
    connection.guard.tick();
    const id = insertRow(connection, statement, values.slice(start, start + width), generator, generated, ended);
    if (id !== null) generated.push(id);
  }
  return `{"inserted":${values.length / width},"ids":[${(ids ?? generated).join(',')}]}`;
}

/**
 * The same for nobody who waits for ids, which costs half of it.
 * @param ended tables whose generators have given their last id in this transaction
 */
export function runQueued(connection: Connection, work: WriteWork | BatchWork, ended: Set<string>): void {
  if (work.do === 'batch') {
    runBatch(connection, work, () => []);
    return;
  }
  if (work.do !== 'insert') {
    runWork(connection, work);
    return;
  }
  const { statement, values, width, generator } = work;
  const { prepared } = connection.statement(statement);
  const lastId = generator === null ? Number.POSITIVE_INFINITY : Number(generator.maxId);
  if (generator !== null) prepared.safeIntegers(false);
  try {
    for (let start = 0; start < values.length; start += width) {
      connection.guard.tick();
      const id = Number(prepared.run(...values.slice(start, start + width)).lastInsertRowid);
      if (id < lastId || generator === null) continue;
      if (id > lastId) throw generatorAtEnd();
      ended.add(generator.table);
    }
  } catch (error) {
    if (generator === null || !isFull(error)) throw error;
    throw ended.has(generator.table) || isAtEnd(connection, generator) ? generatorAtEnd() : error;
  }
}

/** The row's id where the table has a generator, given or generated; else null. */
function insertRow(
  connection: Connection,
  statement: number,
  row: readonly Physical[],
  generator: Generator | null,
  idsBefore: readonly bigint[],
  ended: Set<string> | null,
): bigint | null {
  const { prepared } = connection.statement(statement);
  if (generator === null) {
    prepared.run(...row);
    return null;
  }
  // Not left to SQLite, which would roll the whole transaction back.
  if (row[generator.position] === null && ended?.has(generator.table)) throw generatorAtEnd();
  try {
    const id = BigInt(prepared.safeIntegers().run(...row).lastInsertRowid);
    if (id > generator.maxId) throw generatorAtEnd();
    if (id === generator.maxId) ended?.add(generator.table);
    return id;
  } catch (error) {
    // SQLite reports a generator past its last 64-bit id as a full disk, and has rolled the transaction back by then.
    if (isFull(error) && (idsBefore.includes(generator.maxId) || isAtEnd(connection, generator)))
      throw generatorAtEnd();
    throw error;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code === 'SQLITE_FULL';
}

export function isAtEnd(connection: Connection, { table, maxId }: Generator): boolean {
  return connection.own('SELECT 1 FROM sqlite_sequence WHERE name = ? AND seq = ?').get(table, maxId) !== undefined;
}

function generatorAtEnd(): ApiError {
  return new ApiError('constraint_violation', 'the generator of the primary key is at its end; nothing was inserted');
}

function change(connection: Connection, work: WriteWork & { do: 'change' }): string {
  const { changes } = connection.statement(work.statement).prepared.run(...work.params);
  if (work.isSingleRow && changes > 1) {
    throw new ApiError('constraint_violation', 'inc of a unique column matches more than one row; nothing was changed');
  }
  return `{"affected":${changes}}`;
}

/** Update, else insert: nobody else writes meanwhile, and the order in which SQLite checks several keys is no matter. */
function upsert(connection: Connection, work: WriteWork & { do: 'upsert' }, ended: Set<string> | null): string {
  const { prepared } = connection.statement(work.statement);
  const exists = prepared.reader
    ? prepared.get(...work.params) !== undefined
    : prepared.run(...work.params).changes > 0;
  if (exists) return `{"affected":${work.affectedExisting}}`;
  if (work.insertFault !== null) throw new ApiError(work.insertFault.code, work.insertFault.message);
  insertRow(connection, work.insert, work.row, work.generator, [], ended);
  return '{"affected":1}';
}
