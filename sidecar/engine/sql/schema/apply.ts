import { physicalTable } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import { sqlState } from '#engine/postgres/failures.ts';
import { changeTable } from '#engine/postgres/schema/alter.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { SchemaChange, StoredSchema } from '#engine/schema-calls.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { checkedTransitions, checkRevision } from '#engine/sql/schema/fit.ts';
import { followChange } from '#engine/sql/schema/quarantine.ts';
import { readStored, writeStored } from '#engine/sql/schema/store.ts';
import { ApiError } from '#protocol/errors.ts';
import { createTable, dropTable, keepColumn, keepTable } from './tables.ts';

/** So long a change waits for others' transactions; statements on the same tables wait behind it meanwhile. */
const LOCK_WAIT_MS = 2000;
/** SQLSTATE of a lock that was not had in time. */
const LOCK_NOT_AVAILABLE = '55P03';
const UNIQUE_VIOLATION = '23505';
/** What others have made from our tables is in the way of dropping or altering them. */
const DEPENDENT: ReadonlySet<string> = new Set(['2BP01', '0A000']);

/** Checks that every row fits, and changes nothing. */
export async function checkSchema(connection: SchemaConnection, change: SchemaChange): Promise<void> {
  checkRevision(change, await readStored(connection, change.namespace));
  await checkedTransitions(connection, change);
}

/**
 * The same checks, then the whole change, in the caller's transaction: a crash leaves the old schema or the new one.
 * Throws `conflict_retry` where somebody else's transaction holds a table for longer than 2 s.
 */
export function applySchema(connection: SchemaConnection, change: SchemaChange): Promise<void> {
  return withinLockWait(connection, change.namespace, async () => {
    const { namespace } = change;
    const stored = await readStored(connection, namespace, { lock: true });
    checkRevision(change, stored);
    await lockTables(connection, change);
    await applyChecked(connection, change, await checkedTransitions(connection, change));
    const updatedAt = new Date(change.now).toISOString();
    await storeNext(connection, stored, { namespace, hash: change.hash, schema: change.to, updatedAt });
  });
}

/** The namespace's next schema. `StaleSchemaError` where another process has made its first one meanwhile. */
export async function storeNext(
  connection: SchemaConnection,
  stored: StoredSchema | null,
  next: Omit<StoredSchema, 'revision'>,
): Promise<void> {
  const before = stored?.revision ?? null;
  try {
    await writeStored(connection, { ...next, revision: (before ?? 0) + 1 }, before);
  } catch (error) {
    throw sqlState(error) === UNIQUE_VIOLATION ? new StaleSchemaError(next.namespace) : error;
  }
}

/**
 * The deadline ends a change; what the account has as its own limits, known only to newer servers in part, would end it
 * in the middle of a large table.
 */
const TIME_LIMITS = `
  SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '${LOCK_WAIT_MS}' ELSE '0' END, true)
  FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_timeout')`;

/** Runs the work within the time limits of a change, and says what it means where others are in its way. */
export async function withinLockWait<T>(
  connection: SchemaConnection,
  namespace: string,
  work: () => Promise<T>,
): Promise<T> {
  await connection.rows(TIME_LIMITS);
  try {
    return await work();
  } catch (error) {
    const state = sqlState(error);
    if (state === LOCK_NOT_AVAILABLE) {
      const reason = `another program's transaction holds a table of namespace ${namespace}`;
      throw new ApiError('conflict_retry', `${reason}; nothing was changed, try again`);
    }
    if (state !== null && DEPENDENT.has(state)) {
      const reason = `something else in the database, such as a view, depends on a table of namespace ${namespace}`;
      throw new ApiError('unsupported_change', `${reason}; remove it first`);
    }
    throw error;
  }
}

/** All at once and first, so that the rows that are checked are those that are changed. */
async function lockTables(connection: SchemaConnection, { namespace, from, steps }: SchemaChange): Promise<void> {
  const renamed = new Map(steps.flatMap((step) => (step.kind === 'renameTable' ? [[step.to, step.from]] : [])));
  const touched = new Set(steps.map((step) => tableOf(step)).map((name) => renamed.get(name) ?? name));
  const present = (from?.schema.tables ?? []).map(({ name }) => name).filter((name) => touched.has(name));
  if (present.length === 0) return;
  const tables = present.map((name) => physicalTable(namespace, name));
  await connection.run(`LOCK TABLE ${connection.list(tables)} IN ACCESS EXCLUSIVE MODE`);
}

/** By its new name. */
function tableOf(step: SchemaChange['steps'][number]): string {
  switch (step.kind) {
    case 'createTable':
    case 'dropTable':
    case 'quarantineTable':
      return step.table.name;
    case 'renameTable':
      return step.to;
    case 'addColumn':
    case 'renameColumn':
    case 'alterColumn':
    case 'dropColumn':
    case 'quarantineColumn':
    case 'changePrimaryKey':
    case 'addIndex':
    case 'dropIndex':
      return step.table;
    default:
      return step satisfies never;
  }
}

async function applyChecked(
  connection: SchemaConnection,
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
    await changeTable(connection, namespace, transition, now);
  }
  for (const step of steps) {
    if (step.kind === 'createTable') await createTable(connection, namespace, step.table);
    if (step.kind === 'quarantineTable') await keepTable(connection, namespace, step.table, now, step.part);
    if (step.kind === 'dropTable') await dropTable(connection, namespace, step.table);
  }
}
