import { physicalTable } from '#engine/model/physical-names.ts';
import type { Restored } from '#engine/model/restore-rules.ts';
import { settledSchema } from '#engine/model/schema-parts.ts';
import type { Done } from '#engine/pending/changes.ts';
import { outcomeOf, type Unit } from '#engine/pending/plan.ts';
import { renewLease } from '#engine/sql/cluster.ts';
import { attachColumns, detachColumns, followChange, forgetQuarantine } from '#engine/sql/schema/quarantine.ts';
import { writeStored } from '#engine/sql/schema/store.ts';
import { schemaHash, type Table } from '#protocol/schema.ts';
import type { ChangeContext } from './context.ts';
import { countRows } from './inspect.ts';
import { isFirst, type PendingRow, type StoredRow } from './store.ts';
import { inTransaction } from './turn.ts';
import { lackingRows } from './units.ts';

/**
 * Ends a change and stores its result, in one transaction: the stored schema matches the tables, also if only some
 * units are done.
 */
export function finish(
  context: ChangeContext,
  row: PendingRow,
  units: readonly Unit[],
  done: ReadonlySet<Unit>,
): Promise<Done> {
  const { connection, namespace, revision } = context;
  return inTransaction(connection, async () => {
    if (!(await renewLease(connection, context.lease.next()))) throw context.lease.lost();
    for (const unit of units) await (done.has(unit) ? record(context, unit) : forget(context, unit));
    if (done.size === 0 && units.length > 0) {
      await leaveAsItWas(context, row);
      return { note: null };
    }
    const { schema, note } = await outcome(context, row, units, done);
    const updatedAt = new Date(row.plan.now).toISOString();
    await writeStored(connection, { namespace, revision, hash: schemaHash(schema), schema, updatedAt });
    await connection.run('UPDATE _schemas SET pending = NULL WHERE namespace = ?', [namespace]);
    return { note };
  });
}

/** The revision stays raised: all statements for it were refused, so that none can have been compiled for it. */
async function leaveAsItWas({ connection, namespace }: ChangeContext, row: StoredRow): Promise<void> {
  if (isFirst(row)) await connection.run('DELETE FROM _schemas WHERE namespace = ?', [namespace]);
  else await connection.run('UPDATE _schemas SET pending = NULL WHERE namespace = ?', [namespace]);
}

/** Schema of the tables now, each thing with its owner. */
async function outcome(
  context: ChangeContext,
  { stored, plan }: PendingRow,
  units: readonly Unit[],
  done: ReadonlySet<Unit>,
): Promise<Restored> {
  const from = stored.schema;
  if (plan.kind === 'sync' && done.size < units.length) {
    const tables = units.filter((unit) => done.has(unit)).reduce(withUnit, from.tables);
    return { schema: settledSchema(tables, from, plan.to), note: null };
  }
  const [unit] = units;
  return outcomeOf(from, plan, unit?.kind === 'restoreColumn' ? await lackingRows(context, unit) : 0);
}

/** Tables after a unit of a sync. */
function withUnit(tables: readonly Table[], unit: Unit): readonly Table[] {
  if (unit.kind === 'create') return [...tables, unit.table];
  const old = unit.kind === 'change' ? unit.change.from : unit.table;
  const others = tables.filter(({ name }) => name !== old.name);
  return unit.kind === 'change' ? [...others, unit.change.to] : others;
}

/** Updates the kept objects after a unit. */
async function record(context: ChangeContext, unit: Unit): Promise<void> {
  const { connection, namespace } = context;
  const { kind } = unit;
  switch (kind) {
    case 'create':
      return;
    case 'change':
      for (const { id, physical } of unit.keep) await countKept(context, id, physical);
      return followChange(connection, namespace, unit.change);
    case 'drop':
      return detachColumns(connection, namespace, unit.table.name);
    case 'quarantine':
      await countKept(context, unit.id, unit.physical);
      return detachColumns(connection, namespace, unit.table.name, unit.id);
    case 'restoreTable':
      await attachColumns(connection, namespace, unit.table.name, unit.id);
      return forgetQuarantine(connection, unit.id);
    case 'restoreColumn':
      return forgetQuarantine(connection, unit.id);
    default:
      return kind satisfies never;
  }
}

async function countKept({ connection }: ChangeContext, id: number, physical: string): Promise<void> {
  const rows = await countRows(connection, physical);
  await connection.run('UPDATE _quarantine SET row_count = ? WHERE id = ?', [rows, id]);
}

/** Forgets the objects of a unit that was not done. */
async function forget({ connection }: ChangeContext, unit: Unit): Promise<void> {
  if (unit.kind === 'quarantine') await forgetQuarantine(connection, unit.id);
  if (unit.kind !== 'change') return;
  for (const { id } of unit.keep) await forgetQuarantine(connection, id);
}

/** Physical name of a table whose rows a unit copies or rewrites; null if it touches a table as a whole. */
export function rewrittenTable(namespace: string, unit: Unit): string | null {
  switch (unit.kind) {
    case 'change':
      return physicalTable(namespace, unit.change.from.name);
    case 'restoreColumn':
      return physicalTable(namespace, unit.table.name);
    case 'create':
    case 'restoreTable':
    case 'drop':
    case 'quarantine':
      return null;
    default:
      return unit satisfies never;
  }
}
