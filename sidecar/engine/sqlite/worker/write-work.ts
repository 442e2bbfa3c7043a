import SQLite from 'better-sqlite3';
import { ApiError } from '#protocol/errors.ts';
import type { Connection } from '../connection.ts';
import type { Physical } from '../dialect.ts';
import type { Generator, InsertWork, WriteWork } from './messages.ts';

/** @param ended tables whose generators have given their last id; null if nothing follows in the transaction */
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

export function insert(
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

/** The row's id, given or generated; null if the table has no generator. */
export function insertRow(
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
  // SQLite itself would roll the whole transaction back.
  if (row[generator.position] === null && ended?.has(generator.table)) throw generatorAtEnd();
  try {
    const id = BigInt(prepared.safeIntegers().run(...row).lastInsertRowid);
    if (id > generator.maxId) throw generatorAtEnd();
    if (id === generator.maxId) ended?.add(generator.table);
    return id;
  } catch (error) {
    // For a generator past its last 64-bit id SQLite rolls the transaction back and reports a full disk.
    if (isFull(error) && (idsBefore.includes(generator.maxId) || isAtEnd(connection, generator)))
      throw generatorAtEnd();
    throw error;
  }
}

export function isFull(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code === 'SQLITE_FULL';
}

export function isAtEnd(connection: Connection, { table, maxId }: Generator): boolean {
  return connection.own('SELECT 1 FROM sqlite_sequence WHERE name = ? AND seq = ?').get(table, maxId) !== undefined;
}

export function generatorAtEnd(): ApiError {
  return new ApiError('constraint_violation', 'the generator of the primary key is at its end; nothing was inserted');
}

export function change(connection: Connection, work: WriteWork & { do: 'change' }): string {
  const { changes } = connection.statement(work.statement).prepared.run(...work.params);
  if (work.isSingleRow && changes > 1) {
    throw new ApiError('constraint_violation', 'inc of a unique column matches more than one row; nothing was changed');
  }
  return `{"affected":${changes}}`;
}

/** Update, else insert: no other connection writes meanwhile, so the order of SQLite's key checks does not matter. */
export function upsert(connection: Connection, work: WriteWork & { do: 'upsert' }, ended: Set<string> | null): string {
  const { prepared } = connection.statement(work.statement);
  const exists = prepared.reader
    ? prepared.get(...work.params) !== undefined
    : prepared.run(...work.params).changes > 0;
  if (exists) return `{"affected":${work.affectedExisting}}`;
  if (work.insertFault !== null) throw new ApiError(work.insertFault.code, work.insertFault.message);
  insertRow(connection, work.insert, work.row, work.generator, [], ended);
  return '{"affected":1}';
}
