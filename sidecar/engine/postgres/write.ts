import pg from 'pg';
import { ApiError } from '#protocol/errors.ts';
import { INT32_MAX, INT64_MAX } from '#protocol/limits.ts';
import type { Value } from '#protocol/values.ts';
import { type IdempotencySlot, type Row, StaleSchemaError, type TableTarget, type Write } from '../rows.ts';
import {
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
import { SlotTakenError } from '../sql/slots.ts';
import { POSTGRES_DIALECT } from './dialect.ts';
import { generatorSql, WriteCompiler } from './write-sql.ts';

/** A compiled write, to run by itself, or in a transaction if it takes more than one statement. */
export interface WritePlan {
  readonly needsTransaction: boolean;
  /** JSON text of the result; null if nothing was done because the generator must be moved first. */
  run(session: Session): Promise<string | null>;
}

/** The record of the slot is part of the write's own statement. */
export async function runWrite(sessions: Sessions, call: SlottedWrite, bounds: SqlBounds): Promise<string> {
  const { target, write, slot } = call;
  const run = (plan: WritePlan): Promise<string | null> =>
    plan.needsTransaction
      ? sessions.transaction(bounds, (session) => plan.run(session))
      : sessions.write(bounds, (session) => plan.run(session));
  try {
    const result = (await run(planWrite(target, write, slot))) ?? (await run(planMove(target, write, slot)));
    if (result === null) throw new Error('nothing was inserted, and nothing says why');
    return result;
  } catch (error) {
    if (slot !== null && error instanceof SlotTakenError) await forgetExpired(sessions, slot, bounds);
    throw error;
  }
}

/** A record that has expired keeps the slot until it is deleted. */
async function forgetExpired(
  sessions: Sessions,
  { kid, namespace, key, now }: IdempotencySlot,
  { deadline }: SqlBounds,
): Promise<void> {
  const expired = 'DELETE FROM _idempotency WHERE kid = $1 AND namespace = $2 AND key = $3 AND expires_at <= $4';
  await sessions.write({ deadline }, (session) => session.query(expired, [kid, namespace, key, now]));
}

export function planWrite(target: TableTarget, write: Write, slot: IdempotencySlot | null): WritePlan {
  switch (write.op) {
    case 'insert':
      return planInsert(target, write.rows, slot);
    case 'update': {
      const isSingle = isSingleRowOnly(target.table, write);
      const run = (session: Session): Promise<string> => {
        return change(session, target, slot, send(session, new WriteCompiler(target, slot).update(write)), isSingle);
      };
      return { needsTransaction: isSingle, run };
    }
    case 'upsert':
      return planUpsert(target, write, slot);
    case 'delete': {
      const run = (session: Session): Promise<string> => {
        return change(
          session,
          target,
          slot,
          send(session, new WriteCompiler(target, slot).delete(write.filter)),
          false,
        );
      };
      return { needsTransaction: false, run };
    }
    default:
      return write satisfies never;
  }
}

/** A write of a queue, inside its batch's transaction; its ids are not needed. */
export async function runQueued(session: Session, target: TableTarget, write: Write): Promise<void> {
  if (write.op === 'insert' && !write.rows.some((row) => bringsId(target, row))) {
    await insertAll(session, target, write.rows, null, '', null);
    return;
  }
  const result = await planWrite(target, write, null).run(session);
  if (result === null) await planMove(target, write, null).run(session);
}

function bringsId({ table }: TableTarget, row: Row): boolean {
  const generated = generatedColumn(table);
  return generated !== null && row.has(generated.name);
}

async function change(
  session: Session,
  target: TableTarget,
  slot: IdempotencySlot | null,
  running: Promise<SqlResult>,
  isSingleRow: boolean,
): Promise<string> {
  const { rows, affected } = await running;
  const count = slot === null ? affected : Number(rows[0]?.[0]);
  const isDone = slot === null ? count > 0 : Number(rows[0]?.[1]) > 0;
  if (!isDone) await checkUndone(session, target, slot);
  return changeResult(count, isSingleRow);
}

async function send(session: Session, { sql, params }: CompiledStatement): Promise<SqlResult> {
  try {
    return await session.prepared(sql, params);
  } catch (error) {
    // A twin was faster, or a record has expired; no other statement of ours breaks a rule of that table.
    if (error instanceof pg.DatabaseError && error.table === '_idempotency') throw new SlotTakenError();
    throw error;
  }
}

/** Throws the reason why a statement has changed nothing; returns if nothing matched. */
async function checkUndone(session: Session, target: TableTarget, slot: IdempotencySlot | null): Promise<void> {
  await checkCurrent(session, target);
  if (slot !== null) throw new SlotTakenError();
}

/** @throws StaleSchemaError */
export async function checkCurrent(session: Session, { namespace, revision }: TableTarget): Promise<void> {
  const current = 'SELECT revision FROM _schemas WHERE namespace = $1';
  const { rows } = await session.prepared(current, [namespace]);
  if (Number(rows[0]?.[0]) !== revision) throw new StaleSchemaError(namespace);
}

function planInsert(target: TableTarget, rows: readonly Row[], slot: IdempotencySlot | null): WritePlan {
  const { table } = target;
  const generated = generatedColumn(table);
  if (generated === null) {
    const result = insertResult(rows.length, givenIds(table, rows));
    return { needsTransaction: false, run: (session) => insertAll(session, target, rows, null, result, slot) };
  }
  const ids = rows.flatMap((row) => (row.has(generated.name) ? [idOf(row, generated.name)] : []));
  if (ids.length === 0) {
    return { needsTransaction: false, run: (session) => insertAll(session, target, rows, null, null, slot) };
  }
  if (ids.length < rows.length) return moveThenInsert(target, rows, slot);
  let highest = 0n;
  for (const id of ids) if (id > highest) highest = id;
  const result = insertResult(rows.length, ids.map(String));
  return { needsTransaction: false, run: (session) => insertAll(session, target, rows, highest, result, slot) };
}

/** @param result null if the generator makes the ids */
async function insertAll(
  session: Session,
  target: TableTarget,
  rows: readonly Row[],
  reached: bigint | null,
  result: string | null,
  slot: IdempotencySlot | null,
): Promise<string | null> {
  const inserted = await send(session, new WriteCompiler(target, slot).insert(rows, reached, result));
  if (inserted.affected > 0) {
    return (
      result ??
      insertResult(
        rows.length,
        inserted.rows.map((row) => String(row[0])),
      )
    );
  }
  await checkUndone(session, target, reached === null ? slot : null);
  return null;
}

/** Numbers the rows here, one after another, while no other session can insert. */
function moveThenInsert(target: TableTarget, rows: readonly Row[], slot: IdempotencySlot | null): WritePlan {
  const run = async (session: Session): Promise<string | null> => {
    let last = await lockGenerator(session, target, slot);
    const { name, type } = generatedColumn(target.table) ?? { name: '', type: 'int64' };
    const max = type === 'int32' ? BigInt(INT32_MAX) : INT64_MAX;
    const numbered = rows.map((row) => {
      const id = row.has(name) ? idOf(row, name) : last + 1n;
      if (id > max) throw new ApiError('constraint_violation', 'the generator of the primary key is at its end');
      if (id > last) last = id;
      return row.has(name) ? row : new Map<string, Value>([...row, [name, id]]);
    });
    await raiseGenerator(session, target, last);
    const ids = numbered.map((row) => String(idOf(row, name)));
    return insertAll(session, target, numbered, null, insertResult(rows.length, ids), slot);
  };
  return { needsTransaction: true, run };
}

function planUpsert(target: TableTarget, write: Write & { op: 'upsert' }, slot: IdempotencySlot | null): WritePlan {
  const generated = generatedColumn(target.table);
  const isMoving = generated !== null && write.row.has(generated.name) && write.insertFault === undefined;
  const id = isMoving ? idOf(write.row, generated.name) : null;
  return { needsTransaction: false, run: (session) => upsert(session, target, write, id, slot) };
}

async function upsert(
  session: Session,
  target: TableTarget,
  write: Write & { op: 'upsert' },
  reached: bigint | null,
  slot: IdempotencySlot | null,
): Promise<string | null> {
  for (let attempt = 1; attempt <= MAX_UPSERT_ATTEMPTS; attempt++) {
    const { rows } = await send(session, new WriteCompiler(target, slot).upsert(write, reached));
    const result = rows[0]?.[0] ?? null;
    if (result !== null) return String(result);
    await checkUndone(session, target, null);
    if (reached !== null) return null;
    if (slot !== null) await checkSlot(session, slot);
    if (write.insertFault !== undefined) throw write.insertFault;
  }
  throw writeConflict();
}

async function checkSlot(session: Session, { kid, namespace, key, now }: IdempotencySlot): Promise<void> {
  const taken = 'SELECT 1 FROM _idempotency WHERE kid = $1 AND namespace = $2 AND key = $3 AND expires_at > $4';
  if ((await session.prepared(taken, [kid, namespace, key, now])).rows.length > 0) throw new SlotTakenError();
}

/** The same write, after the generator has been moved past the ids in its rows; for a transaction. */
export function planMove(target: TableTarget, write: Write, slot: IdempotencySlot | null): WritePlan {
  if (write.op === 'insert') return moveThenInsert(target, write.rows, slot);
  const run = async (session: Session): Promise<string | null> => {
    if (write.op !== 'upsert') throw new Error('no generator has to do with it');
    const last = await lockGenerator(session, target, slot);
    const id = idOf(write.row, generatedColumn(target.table)?.name ?? '');
    if (id > last) await raiseGenerator(session, target, id);
    return upsert(session, target, write, null, slot);
  };
  return { needsTransaction: true, run };
}

/** Blocks all other inserts until the transaction ends, and returns the last id. */
async function lockGenerator(session: Session, target: TableTarget, slot: IdempotencySlot | null): Promise<bigint> {
  await session.query(`LOCK TABLE ${tableSql(POSTGRES_DIALECT, target)} IN SHARE ROW EXCLUSIVE MODE`);
  if (slot !== null) await checkSlot(session, slot);
  const { rows } = await session.query(`SELECT COALESCE(pg_sequence_last_value(${generatorSql(target)}), 0)`);
  return BigInt(String(rows[0]?.[0]));
}

/** A rollback does not undo this, which at worst leaves a gap. */
async function raiseGenerator(session: Session, target: TableTarget, last: bigint): Promise<void> {
  if (last < 1n) return;
  await session.query(`SELECT setval(${generatorSql(target)}, $1)`, [last]);
}

function idOf(row: Row, name: string): bigint {
  return BigInt(row.get(name) as number | bigint);
}
