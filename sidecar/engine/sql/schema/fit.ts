import { type TableTransition, transitionsOf } from '#engine/model/table-transition.ts';
import type { SchemaChange, StoredSchema } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { misfits } from './checks.ts';
import type { SchemaConnection } from './connection.ts';

/**
 * What the tables that stay become. Reads only. Throws `unsupported_change` where somebody else's table stands in the
 * way, and `data_does_not_fit` where rows do.
 */
export async function checkedTransitions(
  connection: SchemaConnection,
  change: SchemaChange,
  stored: StoredSchema | null,
): Promise<TableTransition[]> {
  await checkNames(connection, change);
  const transitions = transitionsOf(stored?.schema ?? { tables: [] }, change.to, change.steps);
  const faults: string[] = [];
  for (const transition of transitions) {
    faults.push(...(await misfits(connection, change.namespace, transition, change.now)));
  }
  if (faults.length > 0) throw new ApiError('data_does_not_fit', faults.join('; '));
  return transitions;
}

/** A server's database may hold tables of other programs, which are never touched. */
async function checkNames(connection: SchemaConnection, { namespace, steps }: SchemaChange): Promise<void> {
  for (const step of steps) {
    if (step.kind !== 'createTable' && step.kind !== 'renameTable') continue;
    const name = step.kind === 'createTable' ? step.table.name : step.to;
    const reason = await nameFault(connection, namespace, name);
    if (reason !== null) throw new ApiError('unsupported_change', `table ${namespace}.${name}: ${reason}`);
  }
}

/** Why a table that is not declared cannot have its physical name; null where it can. */
export async function nameFault(
  connection: SchemaConnection,
  namespace: string,
  table: string,
): Promise<string | null> {
  const { takenSql } = connection.dialect;
  if (takenSql === null) return null;
  const physical = connection.physicalTable(namespace, table);
  const rows = await connection.rows(takenSql, [physical]);
  return rows.length === 0 ? null : `the database has something else named ${physical}; rename or remove that first`;
}
