import { ApiError } from '../../../db_connector/protocol/errors.ts';
import type { Row, TableTarget, Write } from '../engine.ts';
import { physicalIndexes } from '../physical-indexes.ts';
import { physicalTable } from '../physical-names.ts';
import { affectedResult, generatedColumn, givenIds, insertResult, isSingleRowOnly } from '../sql/compile-change.ts';
import type { CompiledStatement } from '../sql/compile-read.ts';
import type { Session, SqlResult } from '../sql/session.ts';
import { compileDelete, compileInsert, compileUpdate, compileUpsertChange, rowsAtOnce } from './compile-write.ts';
import {
  DUPLICATE_ENTRY,
  duplicateKey,
  errnoOf,
  GENERATOR_AT_END,
  SUBQUERY_NOT_ONE_ROW,
  UNDEFINED,
} from './failures.ts';
import { refuseStale } from './schema-store.ts';

/** How a write is run: as one statement that commits by itself, or in a transaction because it takes several. */
export interface WritePlan {
  readonly needsTransaction: boolean;
  /** JSON text of the result. */
  run(session: Session): Promise<string>;
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

/** Runs a statement, and tells what it says about the schema or about a key that stands already. */
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
  const errno = errnoOf(error);
  if (errno === SUBQUERY_NOT_ONE_ROW || (errno !== null && UNDEFINED.has(errno))) {
    return refuseStale(session, target.namespace);
  }
  if (errno === DUPLICATE_ENTRY) throw duplicate(target, duplicateKey(error));
  throw error;
}

/** A value stands already; `columns` are those of the key, if it is one that we know. */
class DuplicateError extends ApiError {
  readonly columns: readonly string[] | null;

  constructor(columns: readonly string[] | null) {
    super('constraint_violation', `a value stands already${columns === null ? '' : `: ${columns.join(', ')}`}`);
    this.columns = columns;
  }
}

function duplicate({ namespace, table, physical }: TableTarget, key: string | null): DuplicateError {
  if (key === 'PRIMARY') return new DuplicateError(table.primaryKey ?? null);
  const indexes = physicalIndexes(physical ?? physicalTable(namespace, table.name), table);
  return new DuplicateError(indexes.find((index) => index.name === key)?.columns ?? null);
}

async function change(
  session: Session,
  target: TableTarget,
  statement: CompiledStatement,
  isSingleRow: boolean,
): Promise<string> {
  const { affected } = await send(session, target, statement);
  if (affected === 0) await checkCurrent(session, target);
  if (isSingleRow && affected > 1) {
    throw new ApiError('constraint_violation', 'inc of a unique column matches more than one row; nothing was changed');
  }
  return affectedResult(affected);
}

/** For a statement that has done nothing: returns where that has no other reason than that nothing matched. */
async function checkCurrent(session: Session, { namespace, revision }: TableTarget): Promise<void> {
  const { rows } = await session.prepared('SELECT revision FROM _schemas WHERE namespace = ?', [namespace]);
  if (Number(rows[0]?.[0]) !== revision) await refuseStale(session, namespace);
}

/** Rows of one statement: all bring along the generated column, or none. */
interface Run {
  readonly rows: readonly Row[];
  readonly isGenerated: boolean;
}

function planInsert(target: TableTarget, rows: readonly Row[]): WritePlan {
  const runs = runsOf(target, rows);
  const isCounted = generatedColumn(target.table) !== null;
  const run = async (session: Session): Promise<string> => {
    const ids: string[] = [];
    for (const part of runs) ids.push(...(await insertRun(session, target, part, isCounted)));
    return insertResult(rows.length, ids);
  };
  return { needsTransaction: runs.length > 1, run };
}

/** In order: an explicit id moves the generator for the rows after it. */
function runsOf({ table }: TableTarget, rows: readonly Row[]): Run[] {
  const generated = generatedColumn(table);
  const max = rowsAtOnce(table.columns.length);
  const runs: { rows: Row[]; isGenerated: boolean }[] = [];
  for (const row of rows) {
    const isGenerated = generated !== null && !row.has(generated.name);
    const last = runs.at(-1);
    if (last !== undefined && last.isGenerated === isGenerated && last.rows.length < max) last.rows.push(row);
    else runs.push({ rows: [row], isGenerated });
  }
  return runs;
}

/** JSON texts of the ids. Those that one statement generates follow one another (`auto_increment_increment` is 1). */
async function insertRun(
  session: Session,
  target: TableTarget,
  { rows, isGenerated }: Run,
  isCounted: boolean,
): Promise<string[]> {
  const { insertId } = await insertRows(session, target, rows, isGenerated);
  if (!isCounted || !isGenerated) return givenIds(target.table, rows);
  const first = insertId ?? 0n;
  return rows.map((_, position) => String(first + BigInt(position)));
}

async function insertRows(
  session: Session,
  target: TableTarget,
  rows: readonly Row[],
  isGenerated: boolean,
): Promise<SqlResult> {
  const { sql, params } = compileInsert(target, rows);
  try {
    return await session.prepared(sql, params);
  } catch (error) {
    if (isGenerated && isGeneratorAtEnd(error)) {
      throw new ApiError(
        'constraint_violation',
        'the generator of the primary key is at its end; nothing was inserted',
      );
    }
    return explained(session, target, error);
  }
}

/** Values were checked before, so only the generated one can be out of range, or stand already when it cannot grow. */
function isGeneratorAtEnd(error: unknown): boolean {
  const errno = errnoOf(error);
  return (errno !== null && GENERATOR_AT_END.has(errno)) || duplicateKey(error) === 'PRIMARY';
}

/** Another may insert the row, or delete it, in the very moment. */
const MAX_UPSERT_ATTEMPTS = 5;

/** Changes the row if it exists, and only then inserts: so no generated id is used up for nothing. */
async function upsert(session: Session, target: TableTarget, write: Write & { op: 'upsert' }): Promise<string> {
  const statement = compileUpsertChange(target, write);
  for (let attempt = 1; attempt <= MAX_UPSERT_ATTEMPTS; attempt++) {
    const { affected } = await send(session, target, statement);
    if (affected > 0 || (await isInserted(session, target, write))) return affectedResult(1);
  }
  throw new ApiError('conflict_retry', 'other writes were in the way again and again; repeat the call');
}

/** False where another was quicker; a collision in other columns than the keys is an error. */
async function isInserted(session: Session, target: TableTarget, write: Write & { op: 'upsert' }): Promise<boolean> {
  const generated = generatedColumn(target.table);
  const isGenerated = generated !== null && !write.row.has(generated.name);
  try {
    await insertRows(session, target, [write.row], isGenerated);
    return true;
  } catch (error) {
    if (error instanceof DuplicateError && isSameSet(error.columns, write.keys)) return false;
    throw error;
  }
}

function isSameSet(columns: readonly string[] | null, keys: readonly string[]): boolean {
  return columns !== null && columns.length === keys.length && columns.every((name) => keys.includes(name));
}
