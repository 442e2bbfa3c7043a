import { ApiError } from '#protocol/errors.ts';
import { duplicateMessage } from '../model/failures.ts';
import { physicalIndexes } from '../model/physical-indexes.ts';
import { HIDDEN_ID, physicalTable } from '../model/physical-names.ts';
import { affectedExisting } from '../model/upsert-change.ts';
import type { Row, TableTarget, Write } from '../rows.ts';
import {
  affectedResult,
  changeResult,
  generatedColumn,
  givenIds,
  insertResult,
  isSingleRowOnly,
  MAX_UPSERT_ATTEMPTS,
  writeConflict,
} from '../sql/change.ts';
import type { SlottedWrite } from '../sql/engine.ts';
import { type CompiledStatement, tableSql } from '../sql/read.ts';
import type { Session, Sessions, SqlBounds, SqlResult } from '../sql/session.ts';
import { MAX_KEPT_PARAMS } from './connection.ts';
import { MYSQL_DIALECT } from './dialect.ts';
import {
  DUPLICATE_ENTRY,
  duplicateKey,
  errnoOf,
  GENERATOR_AT_END,
  GeneratedTwiceError,
  GUARD_FAILURES,
  UNDEFINED,
} from './failures.ts';
import { refuseStale } from './schema/store.ts';
import { remember } from './system-tables.ts';
import { type InsertRun, insertRuns } from './write/insert-runs.ts';
import { endOfGenerator, generatorAtEnd, keepLastId } from './write/last-id.ts';
import { compileDelete, compileInsert, compileUpdate, compileUpsertChange, MAX_PARAMS } from './write-sql.ts';

/** A write with a slot and its record are one transaction. */
export function runWrite(sessions: Sessions, call: SlottedWrite, bounds: SqlBounds): Promise<string> {
  const { target, write, slot } = call;
  const plan = planWrite(target, write);
  const run = async (session: Session): Promise<string> => {
    const result = await plan.run(session);
    if (slot !== null) await remember(session, slot, result);
    return result;
  };
  return plan.needsTransaction || slot !== null ? sessions.transaction(bounds, run) : sessions.write(bounds, run);
}

export function planWrite(target: TableTarget, write: Write): WritePlan {
  switch (write.op) {
    case 'insert':
      return planInsert(target, write.rows);
    case 'update': {
      const isSingle = isSingleRowOnly(target.table, write);
      return {
        needsTransaction: isSingle,
        run: (session) => change(session, target, compileUpdate(target, write), isSingle),
      };
    }
    case 'upsert':
      return { needsTransaction: false, run: (session) => upsert(session, target, write) };
    case 'delete': {
      const { filter } = write;
      return {
        needsTransaction: false,
        run: (session) => change(session, target, compileDelete(target, filter), false),
      };
    }
    default:
      return write satisfies never;
  }
}

/** The guard of an insert adds one parameter. */
const MAX_QUEUED_PARAMS = MAX_KEPT_PARAMS - 1;

/** A write of a queue, inside its batch's transaction. */
export async function runQueued(session: Session, target: TableTarget, write: Write): Promise<void> {
  const plan = write.op === 'insert' ? planInsert(target, write.rows, MAX_QUEUED_PARAMS) : planWrite(target, write);
  await plan.run(session);
}

async function change(
  session: Session,
  target: TableTarget,
  statement: CompiledStatement,
  isSingleRow: boolean,
): Promise<string> {
  const { affected } = await send(session, target, statement);
  if (affected === 0) await checkCurrent(session, target);
  return changeResult(affected, isSingleRow);
}

/**
 * First changes the row if it exists, then inserts: so no generated id is wasted. If a row collides in several keys, the
 * server names only one: a collision in another key counts once the row is missing a second time.
 */
async function upsert(session: Session, target: TableTarget, write: Write & { op: 'upsert' }): Promise<string> {
  const statement = compileUpsertChange(target, write);
  let elsewhere: DuplicateError | null = null;
  for (let attempt = 1; attempt <= MAX_UPSERT_ATTEMPTS; attempt++) {
    if ((await send(session, target, statement)).affected > 0) return affectedResult(affectedExisting(write));
    if (write.insertFault !== undefined) await refuseInsert(session, target, write.insertFault);
    const collision = await collisionOfInsert(session, target, write);
    if (collision === null) return affectedResult(1);
    if (isSameSet(collision.columns, write.keys)) continue;
    if (elsewhere !== null) throw collision;
    elsewhere = collision;
  }
  throw writeConflict();
}

async function refuseInsert(session: Session, target: TableTarget, fault: ApiError): Promise<never> {
  await checkCurrent(session, target);
  throw fault;
}

/** Null if the row is inserted. */
async function collisionOfInsert(
  session: Session,
  target: TableTarget,
  write: Write & { op: 'upsert' },
): Promise<DuplicateError | null> {
  const generated = generatedColumn(target.table);
  const isGenerated = generated !== null && !write.row.has(generated.name);
  try {
    await insertRows(session, target, [write.row], isGenerated);
    return null;
  } catch (error) {
    if (error instanceof DuplicateError) return error;
    throw error;
  }
}

function isSameSet(columns: readonly string[] | null, keys: readonly string[]): boolean {
  return columns !== null && columns.length === keys.length && columns.every((name) => keys.includes(name));
}

/** Runs a statement, and translates its errors about the schema or a duplicate key. */
export async function send(
  session: Session,
  target: TableTarget,
  { sql, params }: CompiledStatement,
): Promise<SqlResult> {
  try {
    return await session.prepared(sql, params);
  } catch (error) {
    return explained(session, target, error);
  }
}

export async function explained(session: Session, target: TableTarget, error: unknown): Promise<never> {
  const errno = errnoOf(error) ?? 0;
  if (UNDEFINED.has(errno)) return refuseStale(session, target.namespace);
  if (GUARD_FAILURES.has(errno)) await checkCurrent(session, target);
  if (errno === DUPLICATE_ENTRY) throw duplicate(target, duplicateKey(error));
  throw error;
}

/** For a statement that has done nothing: returns if the schema is not the reason. */
export async function checkCurrent(session: Session, { namespace, revision }: TableTarget): Promise<void> {
  const { rows } = await session.prepared('SELECT revision FROM _schemas WHERE namespace = ?', [namespace]);
  if (Number(rows[0]?.[0]) !== revision) await refuseStale(session, namespace);
}

/** Another row has the key; `columns` are the columns of that key, or null if it is unknown. */
export class DuplicateError extends ApiError {
  readonly columns: readonly string[] | null;

  constructor(columns: readonly string[] | null) {
    super('constraint_violation', duplicateMessage(columns));
    this.columns = columns;
  }
}

function duplicate({ namespace, table, physical }: TableTarget, key: string | null): DuplicateError {
  if (key === 'PRIMARY') return new DuplicateError(table.primaryKey ?? null);
  const indexes = physicalIndexes(physical ?? physicalTable(namespace, table.name), table);
  return new DuplicateError(indexes.find((index) => index.name === key)?.columns ?? null);
}

/** A compiled write, to run as one statement that commits by itself, or in a transaction if it takes several. */
export interface WritePlan {
  readonly needsTransaction: boolean;
  /** JSON text of the result. */
  run(session: Session): Promise<string>;
}

/** `maxParams` of a statement: with fewer it is kept prepared, but several statements need a transaction. */
export function planInsert(target: TableTarget, rows: readonly Row[], maxParams = MAX_PARAMS): WritePlan {
  const runs = insertRuns(target, rows, maxParams);
  const isCounted = generatedColumn(target.table) !== null;
  const run = async (session: Session): Promise<string> => {
    const ids: string[] = [];
    for (const part of runs) ids.push(...(await insertRun(session, target, part, isCounted)));
    return insertResult(rows.length, ids);
  };
  return { needsTransaction: runs.length > 1, run };
}

/** JSON texts of the ids: as the statement returned them, or from the first one and the distance between them. */
async function insertRun(
  session: Session,
  target: TableTarget,
  { rows, isGenerated }: InsertRun,
  isCounted: boolean,
): Promise<string[]> {
  const { rows: returned, insertId, idStep = 1n } = await insertRows(session, target, rows, isGenerated);
  if (!isCounted || !isGenerated) return givenIds(target.table, rows);
  if (returned.length > 0) return returned.map(([id]) => String(id));
  const first = insertId ?? 0n;
  return rows.map((_, position) => String(first + BigInt(position) * idStep));
}

export async function insertRows(
  session: Session,
  target: TableTarget,
  rows: readonly Row[],
  isGenerated: boolean,
): Promise<SqlResult> {
  const { sql, params } = compileInsert(target, rows);
  let result: SqlResult;
  try {
    result = await session.prepared(sql, params);
  } catch (error) {
    const isDrawn = isGenerated || target.table.primaryKey === undefined;
    if (isDrawn && (await isGeneratorAtEnd(session, target, error))) {
      throw generatorAtEnd();
    }
    return explained(session, target, error);
  }
  await keepLastId(session, target, rows, result);
  return result;
}

/**
 * Values were checked before, so only the generated one can be out of range, or exist already: because it cannot grow, or
 * because another node of a cluster has drawn the same one.
 * @throws GeneratedTwiceError
 */
async function isGeneratorAtEnd(session: Session, target: TableTarget, error: unknown): Promise<boolean> {
  const errno = errnoOf(error);
  if (errno !== null && GENERATOR_AT_END.has(errno)) return true;
  if (duplicateKey(error) !== 'PRIMARY') return false;
  const generated = generatedColumn(target.table);
  const name = MYSQL_DIALECT.quoted(generated?.name ?? HIDDEN_ID);
  const { rows } = await session.query(`SELECT CAST(MAX(${name}) AS CHAR) FROM ${tableSql(MYSQL_DIALECT, target)}`);
  if (BigInt(String(rows[0]?.[0] ?? 0)) < endOfGenerator(target)) throw new GeneratedTwiceError();
  return true;
}
