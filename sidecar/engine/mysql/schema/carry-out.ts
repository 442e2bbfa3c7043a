import type { EngineLog } from '#engine/log.ts';
import type { Done } from '#engine/pending/changes.ts';
import { type Unit, unitsOf } from '#engine/pending/plan.ts';
import { misfits } from '#engine/sql/schema/checks.ts';
import { ApiError } from '#protocol/errors.ts';
import type { ChangeContext, SchemaTools } from './context.ts';
import { isRefused, schemaError } from './errors.ts';
import { finish, touchedTables } from './finish.ts';
import { tableMarks } from './inspect.ts';
import type { PendingRow } from './store.ts';
import { waitForTables } from './turn.ts';
import { isDone, runUnit, undoUnit } from './units.ts';

/**
 * Carries out the pending plan, from where it was cut off; in its namespace's turn. If the server refuses a statement,
 * units that are not done are taken back, so that the stored schema is true again, and the refusal is thrown. If the
 * connection is lost instead, or time is over, the plan stays pending.
 */
export async function carryOut(tools: SchemaTools, row: PendingRow): Promise<Done> {
  try {
    return await carryOutInTime(tools, row);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'database_timeout') throw error;
    const reason = 'took too long; the outcome is unknown, and what is left of it is finished by whoever comes next';
    throw new ApiError('database_timeout', `the schema change of namespace ${row.stored.namespace} ${reason}`);
  }
}

async function carryOutInTime({ connection, flavour, log }: SchemaTools, row: PendingRow): Promise<Done> {
  const { plan, stored } = row;
  const { namespace, revision } = stored;
  const context = { connection, flavour, namespace, revision, now: plan.now };
  const units = unitsOf(namespace, stored.schema, plan);
  try {
    await prepareTables(context, units);
    for (const unit of units) await runUnit(context, unit);
  } catch (error) {
    if (!isRefused(error)) throw error;
    await takeBack(context, row, units, log);
    throw schemaError(error, namespace);
  }
  return finish(context, row, units, new Set(units));
}

/** After this no other sidecar writes to the tables by the old schema, and the rows fit. */
async function prepareTables(context: ChangeContext, units: readonly Unit[]): Promise<void> {
  const { connection, namespace, now } = context;
  const touched = units.flatMap((unit) => touchedTables(namespace, unit));
  await waitForTables(connection, [...(await tableMarks(connection, touched)).keys()]);
  const faults: string[] = [];
  for (const unit of units) {
    if (unit.kind !== 'change' || (await isDone(context, unit))) continue;
    faults.push(...(await misfits(connection, namespace, unit.change, now)));
  }
  if (faults.length > 0) throw new ApiError('data_does_not_fit', faults.join('; '));
}

async function takeBack(context: ChangeContext, row: PendingRow, units: readonly Unit[], log: EngineLog) {
  const done = new Set<Unit>();
  for (const unit of units) {
    if (await isDone(context, unit)) done.add(unit);
    else await undoUnit(context, unit);
  }
  await finish(context, row, units, done);
  if (done.size === 0) return;
  const { namespace } = context;
  const parts = { done: done.size, of: units.length };
  log('warn', 'a schema change stopped half-way; the stored schema is what the tables are now', {
    namespace,
    ...parts,
  });
}
