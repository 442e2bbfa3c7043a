import type { EngineLog } from '#engine/log.ts';
import { misfits } from '#engine/sql/schema/checks.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { ApiError } from '#protocol/errors.ts';
import type { ChangeContext } from './context.ts';
import { isRefused, schemaError } from './errors.ts';
import { finish, touchedTables } from './finish.ts';
import { tableMarks } from './inspect.ts';
import type { Pending, Unit } from './pending.ts';
import type { StoredRow } from './store.ts';
import { waitForTables } from './turn.ts';
import type { Flavour } from './types.ts';
import { isDone, runUnit, undoUnit } from './units.ts';

/** With what a change runs. */
export interface SchemaTools {
  readonly connection: SchemaConnection;
  readonly flavour: Flavour;
  readonly log: EngineLog;
}

/**
 * Carries out what is stored as pending, from wherever it was cut off; in its namespace's turn. Where the server refuses
 * a statement, what is not done yet is taken back, so that the stored schema is true again, and the refusal is thrown.
 * Where the connection is lost instead, or the time is over, all stays pending.
 */
export async function carryOut(tools: SchemaTools, row: StoredRow, pending: Pending): Promise<void> {
  try {
    await carryOutInTime(tools, row, pending);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'database_timeout') throw error;
    const reason = 'took too long; the outcome is unknown, and what is left of it is finished by whoever comes next';
    throw new ApiError('database_timeout', `the schema change of namespace ${row.stored.namespace} ${reason}`);
  }
}

async function carryOutInTime(tools: SchemaTools, row: StoredRow, pending: Pending): Promise<void> {
  const context = contextOf(tools, row, pending);
  try {
    await prepareTables(context, pending);
    for (const unit of pending.units) await runUnit(context, unit);
  } catch (error) {
    if (!isRefused(error)) throw error;
    await takeBack(context, row, pending, tools.log);
    throw schemaError(error, context.namespace);
  }
  await finish(context, row, pending, new Set(pending.units));
}

function contextOf({ connection, flavour }: SchemaTools, { stored }: StoredRow, { now }: Pending): ChangeContext {
  return { connection, flavour, namespace: stored.namespace, revision: stored.revision, now };
}

/** From here on nobody writes to the tables by the old schema, and what is in them fits. */
async function prepareTables(context: ChangeContext, { units, now }: Pending): Promise<void> {
  const { connection, namespace } = context;
  const touched = units.flatMap((unit) => touchedTables(namespace, unit));
  await waitForTables(connection, [...(await tableMarks(connection, touched)).keys()]);
  const faults: string[] = [];
  for (const unit of units) {
    if (unit.kind !== 'change' || (await isDone(context, unit))) continue;
    faults.push(...(await misfits(connection, namespace, unit.change, now)));
  }
  if (faults.length > 0) throw new ApiError('data_does_not_fit', faults.join('; '));
}

async function takeBack(context: ChangeContext, row: StoredRow, pending: Pending, log: EngineLog): Promise<void> {
  const done = new Set<Unit>();
  for (const unit of pending.units) {
    if (await isDone(context, unit)) done.add(unit);
    else await undoUnit(context, unit);
  }
  await finish(context, row, pending, done);
  if (done.size === 0) return;
  const { namespace } = context;
  const parts = { done: done.size, of: pending.units.length };
  log('warn', 'a schema change stopped half-way; the stored schema is what the tables are now', {
    namespace,
    ...parts,
  });
}
