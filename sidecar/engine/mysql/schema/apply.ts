import { keptOf, textOfKept, textOfKeptTable } from '#engine/model/kept.ts';
import { textOfSchema } from '#engine/model/schema-text.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { SchemaChange } from '#engine/schema-calls.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { checkedTransitions, checkRevision } from '#engine/sql/schema/fit.ts';
import { register } from '#engine/sql/schema/quarantine.ts';
import { raiseFormat } from '#engine/sql/schema/store.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Table } from '#protocol/schema.ts';
import { carryOut, type SchemaTools } from './carry-out.ts';
import { schemaError } from './errors.ts';
import { tableMarks } from './inspect.ts';
import { type Keep, type Pending, textOfPending, type Unit } from './pending.ts';
import { readRow, type StoredRow } from './store.ts';
import { inTransaction, inTurn } from './turn.ts';

/** Checks that every row fits, and changes nothing; gives what the tables that stay become. */
export async function checkSchema(connection: SchemaConnection, change: SchemaChange): Promise<TableTransition[]> {
  const row = await readRow(connection, change.namespace);
  if (row !== null && row.pending !== null) {
    throw new ApiError('sync_in_progress', `a schema sync of namespace ${change.namespace} is not finished; try again`);
  }
  const stored = row?.stored ?? null;
  checkRevision(change, stored);
  return checkedTransitions(connection, change, stored);
}

/**
 * The same checks, then the change, which is stored before its first statement and finished by whoever comes next where
 * this process ends in the middle. Throws `StaleSchemaError` after it has finished another one.
 */
export function applySchema(tools: SchemaTools, change: SchemaChange): Promise<void> {
  const { connection } = tools;
  const { namespace } = change;
  return inTurn(connection, namespace, async () => {
    await finishPending(tools, namespace);
    const transitions = await checkSchema(connection, change);
    const { row, pending } = await begin(connection, namespace, change.from?.revision ?? null, async () => ({
      units: await unitsOf(connection, change, transitions),
      target: change.to,
      now: change.now,
    }));
    await carryOut(tools, row, pending);
  });
}

/** In the namespace's turn: a change that was cut off comes to its end, or what can be of it. */
export async function finishPending(tools: SchemaTools, namespace: string): Promise<void> {
  const row = await readRow(tools.connection, namespace);
  if (row === null || row.pending === null) return;
  tools.log('warn', 'a schema change that was cut off is being finished', { namespace });
  try {
    await carryOut(tools, row, row.pending);
  } catch (error) {
    // What was refused is taken back, and was answered to those who asked for it, if they still listened.
    if ((await readRow(tools.connection, namespace))?.pending) throw error;
  }
}

/** Stores the intended change, and raises the revision: statements that were compiled before are refused from now on. */
export async function begin(
  connection: SchemaConnection,
  namespace: string,
  fromRevision: number | null,
  plan: () => Promise<Pending>,
): Promise<{ readonly row: StoredRow; readonly pending: Pending }> {
  try {
    return await inTransaction(connection, async () => {
      const locked = await readRow(connection, namespace, { lock: true });
      if ((locked?.stored.revision ?? null) !== fromRevision || locked?.pending) throw new StaleSchemaError(namespace);
      const pending = await plan();
      if (pending.target !== null) await raiseFormat(connection, pending.target);
      const text = textOfPending(pending);
      if (locked === null) {
        const insert = `INSERT INTO _schemas (namespace, revision, hash, \`schema\`, updated_at, pending)
          VALUES (?, 1, '', ?, '', ?)`;
        await connection.run(insert, [namespace, textOfSchema({ tables: [] }), text]);
      } else {
        await connection.run('UPDATE _schemas SET revision = revision + 1, pending = ? WHERE namespace = ?', [
          text,
          namespace,
        ]);
      }
      const row = await readRow(connection, namespace);
      if (row === null) throw new Error('a row of _schemas is gone that was just written');
      return { row, pending };
    });
  } catch (error) {
    throw schemaError(error, namespace);
  }
}

/** In the order in which they are done; what goes into quarantine is registered, so that its name is known. */
async function unitsOf(
  connection: SchemaConnection,
  { namespace, steps, now }: SchemaChange,
  transitions: readonly TableTransition[],
): Promise<Unit[]> {
  const quarantinedAt = new Date(now).toISOString();
  const units: Unit[] = [];
  for (const change of transitions) {
    const keep: Keep[] = [];
    for (const step of steps) {
      if (step.kind !== 'quarantineColumn' || step.table !== change.to.name) continue;
      const { name } = step.column;
      const definition = textOfKept(keptOf(change.from, step.column, step.part));
      const about = { namespace, table: change.from.name, column: name, definition, rows: 0, quarantinedAt };
      keep.push({ column: name, ...(await register(connection, about)) });
    }
    units.push({ kind: 'change', change, keep });
  }
  const keptTable = (table: Table, part?: string) => {
    const definition = textOfKeptTable(table, part);
    return register(connection, { namespace, table: table.name, column: null, definition, rows: 0, quarantinedAt });
  };
  for (const step of steps) {
    if (step.kind === 'createTable') units.push({ kind: 'create', table: step.table });
    if (step.kind === 'dropTable') units.push({ kind: 'drop', table: step.table });
    if (step.kind === 'quarantineTable') {
      units.push({ kind: 'quarantine', table: step.table, ...(await keptTable(step.table, step.part)) });
    }
  }
  await checkKeptNames(connection, units);
  return units;
}

/** The names hold an id that is new, so that only a table of somebody else can have one. */
async function checkKeptNames(connection: SchemaConnection, units: readonly Unit[]): Promise<void> {
  const names = units.flatMap((unit) => {
    if (unit.kind === 'change') return unit.keep.map(({ physical }) => physical);
    return unit.kind === 'quarantine' ? [unit.physical] : [];
  });
  const [taken] = (await tableMarks(connection, names)).keys();
  if (taken !== undefined) {
    throw new ApiError(
      'unsupported_change',
      `the database has something else named ${taken}; rename or remove that first`,
    );
  }
}
