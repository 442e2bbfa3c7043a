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
  const tables = steps.flatMap((step) => {
    if (step.kind === 'createTable') return [step.table.name];
    return step.kind === 'renameTable' ? [step.to] : [];
  });
  const fault = await nameFault(connection, namespace, tables);
  if (fault !== null) throw new ApiError('unsupported_change', `table ${namespace}.${fault.table}: ${fault.reason}`);
}

/** The first of the new tables that cannot have its physical name, and why; null if all can. */
export async function nameFault(
  connection: SchemaConnection,
  namespace: string,
  tables: readonly string[],
): Promise<{ readonly table: string; readonly reason: string } | null> {
  const { takenNames } = connection.dialect;
  if (takenNames === null || tables.length === 0) return null;
  const physicalOf = (table: string): string => connection.physicalTable(namespace, table);
  const taken = await takenNames(connection, tables.map(physicalOf));
  const table = tables.find((name) => taken.has(physicalOf(name)));
  if (table === undefined) return null;
  const reason = `the database has something else named ${physicalOf(table)}; rename or remove that first`;
  return { table, reason };
}
