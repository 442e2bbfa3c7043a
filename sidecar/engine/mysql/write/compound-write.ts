import { ApiError } from '#protocol/errors.ts';
import { affectedExisting, upsertChange } from '../../model/upsert-change.ts';
import type { IdempotencySlot, Row, TableTarget, Write } from '../../rows.ts';
import { affectedResult, generatedColumn, givenIds, insertResult, isSingleRowOnly } from '../../sql/change.ts';
import { SqlParams } from '../../sql/dialect.ts';
import type { SlottedWrite } from '../../sql/engine.ts';
import type { CompiledStatement } from '../../sql/read.ts';
import type { ServerSessions, Session, SqlBounds } from '../../sql/session.ts';
import { SlotTakenError } from '../../sql/slots.ts';
import { MAX_KEPT_PARAMS } from '../connection.ts';
import { MYSQL_DIALECT } from '../dialect.ts';
import { classify, errnoOf } from '../failures.ts';
import { recordSql } from '../system-tables.ts';
import { runWrite } from '../write.ts';
import { compileDelete, compileInsert, compileUpdate, compileUpsertChange, currentSql } from '../write-sql.ts';
import { insertRuns } from './insert-runs.ts';
import { endOfGenerator } from './last-id.ts';

/** Not to be prepared, and not understood: a server before compound statements could be prepared, or a proxy before it. */
const NO_COMPOUNDS: ReadonlySet<number> = new Set([1064, 1295]);

/**
 * Writes with a slot as MariaDB takes them in one round trip: a compound statement that begins a transaction, writes, keeps
 * the record and commits. It is done whole or not at all. All that is not the usual end (a refusal, a record that is there
 * already, a changed schema) leaves nothing behind, and is done step by step, which knows each case.
 */
export class CompoundWrites {
  #isRefused = false;

  /** JSON text of the result. @throws SlotTakenError */
  async run(sessions: ServerSessions, call: SlottedWrite, bounds: SqlBounds): Promise<string> {
    const { target, write, slot } = call;
    const statement = slot === null || this.#isRefused ? null : compile(target, write, slot);
    if (statement === null) return runWrite(sessions, call, bounds);
    let isLost = false;
    const send = async (session: Session): Promise<string | null> => {
      try {
        return await this.#send(session, statement);
      } catch (error) {
        isLost ||= classify(error).kind === 'lost';
        throw error;
      }
    };
    try {
      return (await sessions.compound(bounds, send)) ?? (await runWrite(sessions, call, bounds));
    } catch (error) {
      // A statement whose answer was lost may be done, whatever became of the attempts after it.
      throw isLost && leavesOpen(error) ? outcomeUnknown() : error;
    }
  }

  /** Null if the write must be done step by step. */
  async #send(session: Session, { sql, params }: CompiledStatement): Promise<string | null> {
    try {
      const { rows } = await session.prepared(sql, params);
      const result = rows[0]?.[0] ?? null;
      return result === null ? null : String(result);
    } catch (error) {
      if (error instanceof ApiError) return null;
      this.#isRefused ||= NO_COMPOUNDS.has(errnoOf(error) ?? 0);
      const { kind } = classify(error);
      if (this.#isRefused || kind === 'refused' || kind === 'undefined') return null;
      throw error;
    }
  }
}

/** Whether the last attempt failed for a reason that says nothing about an earlier one; a taken slot has its result. */
function leavesOpen(error: unknown): boolean {
  if (!(error instanceof ApiError) || error instanceof SlotTakenError) return false;
  return error.status >= 500 || error.code === 'conflict_retry';
}

function outcomeUnknown(): ApiError {
  return new ApiError('database_timeout', 'the connection to the database was lost; the outcome is unknown');
}

/** The middle of a compound statement. */
interface Part {
  /** Statements that write, and keep what `unless` and `result` read. */
  readonly work: CompiledStatement;
  /** Condition under which nothing may stay. */
  readonly unless: CompiledStatement;
  /** Expression of the result's JSON text. */
  readonly result: CompiledStatement;
}

/** A statement is kept prepared only with as many parameters; some are those of guards and record. */
const MAX_WRITE_PARAMS = MAX_KEPT_PARAMS - 16;
/** Session variables: a declared one would hide a column of its name. */
const ROWS = '@sidecar_rows';
const ID = '@sidecar_id';
const RESULT = '@sidecar_result';
const KEEP_ROWS = `SET ${ROWS} = ROW_COUNT()`;
const KEEP_ID = `SET ${ID} = LAST_INSERT_ID()`;

function compile(target: TableTarget, write: Write, slot: IdempotencySlot): CompiledStatement | null {
  const part = partOf(target, write);
  if (part === null || part.work.params.length > MAX_WRITE_PARAMS) return null;
  const { work, result, unless } = part;
  const sql = `BEGIN NOT ATOMIC
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    ${work.sql};
    IF ${unless.sql} THEN
      ROLLBACK;
      SET ${RESULT} = NULL;
    ELSE
      SET ${RESULT} = ${result.sql};
      ${recordSql(RESULT)};
      COMMIT;
    END IF;
    SELECT ${RESULT};
  END`;
  const { kid, namespace, key, fingerprint, expiresAt } = slot;
  const record = [kid, namespace, key, fingerprint, BigInt(expiresAt)];
  return { sql, params: [...work.params, ...unless.params, ...result.params, ...record] };
}

function partOf(target: TableTarget, write: Write): Part | null {
  switch (write.op) {
    case 'insert':
      return insertPart(target, write);
    case 'update': {
      const isTooWide = isSingleRowOnly(target.table, write) ? `${ROWS} > 1 OR ` : '';
      return changePart(target, compileUpdate(target, write), isTooWide);
    }
    case 'upsert':
      return upsertPart(target, write);
    case 'delete':
      return changePart(target, compileDelete(target, write.filter), '');
    default:
      return write satisfies never;
  }
}

/** Rows that were not found may be those of a schema that has changed. */
function changePart(target: TableTarget, { sql, params }: CompiledStatement, isTooWide: string): Part {
  const guard = new SqlParams(MYSQL_DIALECT);
  const isStale = `(${ROWS} = 0 AND NOT ${currentSql(target, guard)})`;
  return {
    work: { sql: `${sql}; ${KEEP_ROWS}`, params },
    unless: { sql: `${isTooWide}${isStale}`, params: guard.values },
    result: { sql: `CONCAT('{"affected":', ${ROWS}, '}')`, params: [] },
  };
}

/** Several ids that the server draws are known to the driver alone. */
function insertPart(target: TableTarget, { rows }: Write & { readonly op: 'insert' }): Part | null {
  const [run, ...others] = insertRuns(target, rows, MAX_WRITE_PARAMS);
  if (run === undefined || others.length > 0 || hasLastId(target, rows)) return null;
  const isDrawn = generatedColumn(target.table) !== null && run.isGenerated;
  if (isDrawn && rows.length > 1) return null;
  const { sql, params } = compileInsert(target, rows);
  const result = isDrawn
    ? { sql: `CONCAT('${insertResult(1, [`', ${ID}, '`])}')`, params: [] }
    : { sql: '?', params: [insertResult(rows.length, givenIds(target.table, rows))] };
  return { work: { sql: `${sql}; ${KEEP_ID}`, params }, unless: lastIdDrawn(target), result };
}

/** Changes the row if it is there, and inserts it otherwise. */
function upsertPart(target: TableTarget, write: Write & { readonly op: 'upsert' }): Part | null {
  if (write.insertFault !== undefined || upsertChange(write).isEmpty || hasLastId(target, [write.row])) return null;
  const [change, insert] = [compileUpsertChange(target, write), compileInsert(target, [write.row])];
  const sql = `${change.sql}; ${KEEP_ROWS}; IF ${ROWS} = 0 THEN ${insert.sql}; END IF; ${KEEP_ID}`;
  return {
    work: { sql, params: [...change.params, ...insert.params] },
    unless: lastIdDrawn(target),
    result: { sql: `IF(${ROWS} > 0, ?, ?)`, params: [affectedResult(affectedExisting(write)), affectedResult(1)] },
  };
}

/** Rows with the last id of the generator have a rule of their own (`keepLastId`). */
function hasLastId(target: TableTarget, rows: readonly Row[]): boolean {
  const generated = generatedColumn(target.table);
  const last = endOfGenerator(target);
  return generated !== null && rows.some((row) => BigInt(String(row.get(generated.name) ?? 0)) === last);
}

function lastIdDrawn(target: TableTarget): CompiledStatement {
  return generatedColumn(target.table) === null
    ? { sql: 'FALSE', params: [] }
    : { sql: `${ID} = ?`, params: [endOfGenerator(target)] };
}
