import { ApiError } from '#protocol/errors.ts';
import { affectedExisting } from '../model/upsert-change.ts';
import type { TableTarget, Write } from '../rows.ts';
import { affectedResult, generatedColumn, isSingleRowOnly } from '../sql/change.ts';
import type { SlottedWrite } from '../sql/engine.ts';
import type { CompiledStatement } from '../sql/read.ts';
import type { Session, Sessions, SqlBounds } from '../sql/session.ts';
import { MAX_KEPT_PARAMS } from './connection.ts';
import { insertRows, planInsert, type WritePlan } from './insert.ts';
import { checkCurrent, DuplicateError, send } from './send-statement.ts';
import { remember } from './slots.ts';
import { compileDelete, compileUpdate, compileUpsertChange } from './write-sql.ts';

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

/** The guard of an insert takes one more. */
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
  if (isSingleRow && affected > 1) {
    throw new ApiError('constraint_violation', 'inc of a unique column matches more than one row; nothing was changed');
  }
  return affectedResult(affected);
}

/** Another may insert the row, or delete it, in the very moment. */
const MAX_UPSERT_ATTEMPTS = 5;

/**
 * Changes the row if it exists, and only then inserts: so no generated id is used up for nothing. Of a row that collides
 * in several keys the server names one: a collision elsewhere is believed when the row is missing a second time.
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
  throw new ApiError('conflict_retry', 'write conflict: gave up after 5 attempts; retry the call');
}

async function refuseInsert(session: Session, target: TableTarget, fault: ApiError): Promise<never> {
  await checkCurrent(session, target);
  throw fault;
}

/** Null where the row is inserted. */
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
