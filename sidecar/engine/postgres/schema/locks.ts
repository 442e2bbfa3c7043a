import { physicalTable } from '#engine/model/physical-names.ts';
import type { SchemaChange } from '#engine/schema-calls.ts';
import type { ChangeConnection } from '#engine/sql/schema/connection.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Table } from '#protocol/schema.ts';
import { sqlState } from '../failures.ts';

/** How long a change waits for other transactions; statements on the same tables wait behind it meanwhile. */
const LOCK_WAIT_MS = 2000;
/** SQLSTATE of a lock that was not obtained in time. */
const LOCK_NOT_AVAILABLE = '55P03';
/** SQLSTATEs if an object of another program depends on a table that is dropped or altered. */
const DEPENDENT: ReadonlySet<string> = new Set(['2BP01', '0A000']);

/**
 * The deadline ends a change; the account's own limits, known only to newer servers in part, would end it in the middle of
 * a large table.
 */
const TIME_LIMITS = `
  SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN '${LOCK_WAIT_MS}' ELSE '0' END, true)
  FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_timeout')`;

export async function withinLimits<T>(
  connection: ChangeConnection,
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

/** Locks all tables at once before the checks, so that no row changes between check and change. */
export async function lockTables(
  connection: ChangeConnection,
  { namespace, steps }: SchemaChange,
  from: readonly Table[],
): Promise<void> {
  const renamed = new Map(steps.flatMap((step) => (step.kind === 'renameTable' ? [[step.to, step.from]] : [])));
  const touched = new Set(steps.map((step) => tableOf(step)).map((name) => renamed.get(name) ?? name));
  const present = from.map(({ name }) => name).filter((name) => touched.has(name));
  if (present.length === 0) return;
  const tables = present.map((name) => physicalTable(namespace, name));
  await connection.run(`LOCK TABLE ${connection.list(tables)} IN ACCESS EXCLUSIVE MODE`);
}

/** New name of the table of a step. */
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
