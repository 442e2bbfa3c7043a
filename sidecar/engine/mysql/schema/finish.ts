import { physicalTable } from '#engine/model/physical-names.ts';
import { restoredColumn } from '#engine/model/restore-rules.ts';
import { restoredSchema, settledSchema, withTables } from '#engine/model/schema-parts.ts';
import { attachColumns, detachColumns, followChange, forgetQuarantine } from '#engine/sql/schema/quarantine.ts';
import { writeStored } from '#engine/sql/schema/store.ts';
import { type Schema, schemaHash, type Table } from '#protocol/schema.ts';
import type { ChangeContext } from './context.ts';
import { countRows } from './inspect.ts';
import type { Pending, Unit } from './pending.ts';
import { isFirst, type StoredRow } from './store.ts';
import { inTransaction } from './turn.ts';
import { lackingRows } from './units.ts';

/**
 * Writes down what has become of a change, all at once, and ends it: the stored schema is what the tables are, also
 * where only some units are done.
 */
export async function finish(
  context: ChangeContext,
  row: StoredRow,
  pending: Pending,
  done: ReadonlySet<Unit>,
): Promise<void> {
  const { connection, namespace, revision } = context;
  await inTransaction(connection, async () => {
    let { tables } = row.stored.schema;
    for (const unit of pending.units) {
      if (done.has(unit)) {
        tables = withTable(tables, await recorded(context, unit));
      } else {
        await forget(context, unit);
      }
    }
    if (done.size === 0 && pending.units.length > 0) {
      await leaveAsItWas(context, row);
      return;
    }
    const schema = settled(row, pending, tables, done.size === pending.units.length);
    const updatedAt = new Date(pending.now).toISOString();
    await writeStored(connection, { namespace, revision, hash: schemaHash(schema), schema, updatedAt });
    await connection.run('UPDATE _schemas SET pending = NULL WHERE namespace = ?', [namespace]);
  });
}

/** The revision stays raised: it was refused to all, so that nobody can have compiled anything for it. */
async function leaveAsItWas({ connection, namespace }: ChangeContext, row: StoredRow): Promise<void> {
  if (isFirst(row)) await connection.run('DELETE FROM _schemas WHERE namespace = ?', [namespace]);
  else await connection.run('UPDATE _schemas SET pending = NULL WHERE namespace = ?', [namespace]);
}

/** Which table there is instead of which. */
interface Replaced {
  readonly old: string | null;
  readonly table: Table | null;
}

function withTable(tables: readonly Table[], { old, table }: Replaced): readonly Table[] {
  const others = tables.filter(({ name }) => name !== old);
  return table === null ? others : [...others, table];
}

/** What the tables are now, each thing with its owner. */
function settled({ stored }: StoredRow, pending: Pending, tables: readonly Table[], isWhole: boolean): Schema {
  const { target } = pending;
  if (target !== null) return isWhole ? target : settledSchema(tables, stored.schema, target);
  const [unit] = pending.units;
  if (unit?.kind === 'restoreColumn') {
    const place = { table: unit.table.name, column: unit.kept.column.name };
    return restoredSchema(tables, stored.schema, place, unit.kept.part);
  }
  if (unit?.kind !== 'restoreTable') return withTables(stored.schema, tables);
  return restoredSchema(tables, stored.schema, { table: unit.table.name, column: null }, unit.part);
}

/** What is in quarantine follows. */
async function recorded(context: ChangeContext, unit: Unit): Promise<Replaced> {
  const { connection, namespace } = context;
  const { kind } = unit;
  switch (kind) {
    case 'create':
      return { old: null, table: unit.table };
    case 'change':
      for (const { id, physical } of unit.keep) await countKept(context, id, physical);
      await followChange(connection, namespace, unit.change);
      return { old: unit.change.from.name, table: unit.change.to };
    case 'drop':
      await detachColumns(connection, namespace, unit.table.name);
      return { old: unit.table.name, table: null };
    case 'quarantine':
      await countKept(context, unit.id, unit.physical);
      await detachColumns(connection, namespace, unit.table.name, unit.id);
      return { old: unit.table.name, table: null };
    case 'restoreTable':
      await attachColumns(connection, namespace, unit.table.name, unit.id);
      await forgetQuarantine(connection, unit.id);
      return { old: null, table: unit.table };
    case 'restoreColumn': {
      await forgetQuarantine(connection, unit.id);
      const column = restoredColumn(unit.kept, await lackingRows(context, unit));
      return { old: unit.table.name, table: { ...unit.table, columns: [...unit.table.columns, column] } };
    }
    default:
      return kind satisfies never;
  }
}

async function countKept({ connection }: ChangeContext, id: number, physical: string): Promise<void> {
  const rows = await countRows(connection, physical);
  await connection.run('UPDATE _quarantine SET row_count = ? WHERE id = ?', [rows, id]);
}

/** What was registered for a unit that did not come to be. */
async function forget({ connection }: ChangeContext, unit: Unit): Promise<void> {
  if (unit.kind === 'quarantine') await forgetQuarantine(connection, unit.id);
  if (unit.kind !== 'change') return;
  for (const { id } of unit.keep) await forgetQuarantine(connection, id);
}

/** Physical names of the tables that a unit finds and touches. */
export function touchedTables(namespace: string, unit: Unit): string[] {
  switch (unit.kind) {
    case 'create':
      return [];
    case 'restoreTable':
      return [unit.physical];
    case 'change':
      return [physicalTable(namespace, unit.change.from.name)];
    case 'drop':
    case 'quarantine':
    case 'restoreColumn':
      return [physicalTable(namespace, unit.table.name)];
    default:
      return unit satisfies never;
  }
}
