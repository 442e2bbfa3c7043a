import { type Lease, LeaseLostError } from '#engine/cluster/leases.ts';
import type { EngineLog } from '#engine/log.ts';
import type { Done } from '#engine/pending/changes.ts';
import { type Unit, unitsOf } from '#engine/pending/plan.ts';
import { misfits } from '#engine/sql/schema/checks.ts';
import { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { ApiError } from '#protocol/errors.ts';
import { checkLease, placeOf, putBackLate, takeAway } from './away.ts';
import type { ChangeContext, SchemaTools } from './context.ts';
import { isRefused, schemaError } from './errors.ts';
import { finish, rewrittenTable } from './finish.ts';
import type { PendingRow } from './store.ts';
import { isDone, runUnit, undoUnit } from './units.ts';

/**
 * Carries out the pending plan, from where it was cut off; under the lease of its namespace. If the server refuses a statement,
 * units that are not done are taken back, so that the stored schema is true again, and the refusal is thrown. If the
 * connection is lost instead, or time is over, the plan stays pending.
 */
export async function carryOut(tools: SchemaTools, lease: Lease, row: PendingRow): Promise<Done> {
  try {
    return await carryOutInTime(tools, lease, row);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'database_timeout') throw error;
    const reason = 'took too long; the outcome is unknown, and what is left of it is finished by whoever comes next';
    throw new ApiError('database_timeout', `the schema change of namespace ${row.stored.namespace} ${reason}`);
  }
}

async function carryOutInTime({ connection, flavour, log }: SchemaTools, lease: Lease, row: PendingRow): Promise<Done> {
  const { plan, stored } = row;
  const { namespace, revision } = stored;
  const context = { connection, flavour, namespace, revision, now: plan.now, lease, places: new Map() };
  const units = unitsOf(namespace, stored.schema, plan);
  try {
    await prepareTables(context, units);
    for (const unit of units) {
      // A table that is made late, after a freeze, changes no other one: a check for each of them would be a commit for each.
      if (unit.kind !== 'create' || !lease.isFresh) await checkLease(context);
      await runUnit(context, unit);
    }
  } catch (error) {
    if (error instanceof LeaseLostError) {
      await putBackLate(context).catch(() => {
        log('warn', 'tables may be left under private names; declare the schema with a change to have them back', {
          namespace,
        });
      });
      throw error;
    }
    if (!isRefused(error)) throw error;
    await takeBack(context, row, units, log).catch((failure: unknown) => {
      throw schemaError(failure, namespace);
    });
    throw schemaError(error, namespace);
  }
  return finish(context, row, units, new Set(units));
}

/** After this no other sidecar reads or writes the tables that are rewritten, and their rows fit. */
async function prepareTables(context: ChangeContext, units: readonly Unit[]): Promise<void> {
  const { connection, namespace, now } = context;
  const left: { readonly unit: Unit; readonly physical: string }[] = [];
  for (const unit of units) {
    const physical = rewrittenTable(namespace, unit);
    if (physical !== null && !(await isDone(context, unit))) left.push({ unit, physical });
  }
  await takeAway(context, [...new Set(left.map(({ physical }) => physical))]);
  const physicalTable = (of: string, table: string) => placeOf(context, connection.dialect.physicalTable(of, table));
  const away = new SchemaConnection(connection.session, { ...connection.dialect, physicalTable });
  const faults: string[] = [];
  for (const { unit } of left) {
    if (unit.kind === 'change') faults.push(...(await misfits(away, namespace, unit.change, now)));
  }
  if (faults.length > 0) throw new ApiError('data_does_not_fit', faults.join('; '));
}

async function takeBack(context: ChangeContext, row: PendingRow, units: readonly Unit[], log: EngineLog) {
  const done = new Set<Unit>();
  for (const unit of units) {
    const isKept = await isDone(context, unit);
    await checkLease(context);
    if (isKept) done.add(unit);
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
