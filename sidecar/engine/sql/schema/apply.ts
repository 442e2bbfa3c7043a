import type { TableTransition } from '#engine/model/table-transition.ts';
import { checkRevision, type SchemaChange, type StoredSchema } from '#engine/schema-calls.ts';
import type { ChangeConnection } from './connection.ts';
import { checkedTransitions } from './fit.ts';
import { followChange } from './quarantine.ts';
import { readStored, writeStored } from './store.ts';
import { createTable, dropTable, keepColumn, keepTable } from './tables.ts';

/** Checks that every row fits, and changes nothing. */
export async function checkSchema(connection: ChangeConnection, change: SchemaChange): Promise<void> {
  const stored = await readStored(connection, change.namespace);
  checkRevision(change, stored);
  await checkedTransitions(connection, change, stored);
}

/**
 * The same checks, then the whole change, in the caller's transaction: a crash leaves the old schema or the new one.
 * Throws `conflict_retry` if another program holds a table for too long.
 */
export function applySchema(connection: ChangeConnection, change: SchemaChange): Promise<void> {
  const { dialect } = connection;
  const { namespace } = change;
  return dialect.withinLimits(connection, namespace, async () => {
    const stored = await readStored(connection, namespace, { lock: true });
    checkRevision(change, stored);
    await dialect.lockTables(connection, change, stored?.schema.tables ?? []);
    await applyChecked(connection, change, await checkedTransitions(connection, change, stored));
    const updatedAt = new Date(change.now).toISOString();
    await storeNext(connection, stored, { namespace, hash: change.hash, schema: change.to, updatedAt });
  });
}

/** The namespace's next schema. */
export function storeNext(
  connection: ChangeConnection,
  stored: StoredSchema | null,
  next: Omit<StoredSchema, 'revision'>,
): Promise<void> {
  const before = stored?.revision ?? null;
  return writeStored(connection, { ...next, revision: (before ?? 0) + 1 }, before);
}

async function applyChecked(
  connection: ChangeConnection,
  { namespace, steps, now }: SchemaChange,
  transitions: readonly TableTransition[],
): Promise<void> {
  for (const transition of transitions) {
    for (const step of steps) {
      if (step.kind === 'quarantineColumn' && step.table === transition.to.name) {
        await keepColumn(connection, namespace, transition.from, step.column, now, step.part);
      }
    }
    await followChange(connection, namespace, transition);
    await connection.dialect.changeTable(connection, namespace, transition, now);
  }
  for (const step of steps) {
    if (step.kind === 'createTable') await createTable(connection, namespace, step.table);
    if (step.kind === 'quarantineTable') await keepTable(connection, namespace, step.table, now, step.part);
    if (step.kind === 'dropTable') await dropTable(connection, namespace, step.table);
  }
}
