import { type TableTransition, transitionsOf } from '#engine/model/table-transition.ts';
import type { SchemaChange, StoredSchema } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { misfits } from './checks.ts';
import type { SchemaConnection } from './connection.ts';

/**
 * Transitions of the tables that stay. Reads only. Throws `unsupported_change` if a table of another program has a needed
 * name, and `data_does_not_fit` if rows do not fit.
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

/** Why a new table cannot have its physical name; null if it can. */
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
