import { fillOf } from '#engine/model/column-change.ts';
import { keptOfText } from '#engine/model/kept.ts';
import {
  emptyColumn,
  type Restored,
  refusal,
  restorableTable,
  restoredColumn,
  restoredNote,
  schemaWith,
  tableOfKept,
} from '#engine/model/restore-rules.ts';
import { transitionTo } from '#engine/model/table-transition.ts';
import type { QuarantinedObject, RestoredObject } from '#engine/schema-calls.ts';
import { type Column, type Schema, schemaHash, type Table } from '#protocol/schema.ts';
import { storeNext } from './apply.ts';
import type { ChangeConnection } from './connection.ts';
import { nameFault } from './fit.ts';
import { sameRowSql } from './keep.ts';
import { attachColumns, forgetQuarantine, type QuarantineRow, quarantineRow } from './quarantine.ts';
import { readStored } from './store.ts';
import { makeIndexes, raiseRemembered, renameTable } from './tables.ts';

/**
 * Puts a kept table or column back into the stored schema, whose revision grows; in the caller's transaction. Throws
 * `unsupported_change` with the reason if the schema has no place for it any more.
 */
export async function restoreQuarantine(
  connection: ChangeConnection,
  id: number,
  now: number,
): Promise<RestoredObject> {
  const { object } = await quarantineRow(connection, id);
  return connection.dialect.withinLimits(connection, object.namespace, async () => {
    // Lock the namespace first, as a sync does.
    const stored = await readStored(connection, object.namespace, { lock: true });
    const row = await quarantineRow(connection, id, { lock: true });
    const { namespace } = row.object;
    const { schema, note } = await restored(connection, row, stored?.schema ?? { tables: [] }, now);
    await forgetQuarantine(connection, id);
    const updatedAt = new Date(now).toISOString();
    await storeNext(connection, stored, { namespace, hash: schemaHash(schema), schema, updatedAt });
    return { ...row.object, note };
  });
}

/** Deletes a kept object for good, even if its table was dropped by hand; in the caller's transaction. */
export async function purgeQuarantine(connection: ChangeConnection, id: number): Promise<QuarantinedObject> {
  const { object, physical } = await quarantineRow(connection, id, { lock: true });
  const drop = `DROP TABLE IF EXISTS ${connection.quoted(physical)}`;
  await connection.dialect.withinLimits(connection, object.namespace, () => connection.run(drop));
  await forgetQuarantine(connection, id);
  return object;
}

function restored(connection: ChangeConnection, row: QuarantineRow, schema: Schema, now: number): Promise<Restored> {
  const isTable = row.object.kind === 'table';
  return isTable ? restoreTable(connection, row, schema) : restoreColumn(connection, row, schema, now);
}

async function restoreTable(
  connection: ChangeConnection,
  { object, physical, definition }: QuarantineRow,
  schema: Schema,
): Promise<Restored> {
  const { namespace, table: name } = object;
  const table = restorableTable(object, definition, schema);
  const fault = await nameFault(connection, namespace, [name]);
  if (fault !== null) throw refusal(object, fault.reason);
  const place = connection.physicalTable(namespace, name);
  await renameTable(connection, table, physical, place);
  await raiseRemembered(connection, namespace, table);
  await makeIndexes(connection, place, table);
  await attachColumns(connection, namespace, name, object.id);
  return { schema: schemaWith(object, definition, schema, table), note: null };
}

async function restoreColumn(
  connection: ChangeConnection,
  { object, physical, definition }: QuarantineRow,
  schema: Schema,
  now: number,
): Promise<Restored> {
  const { namespace } = object;
  const kept = keptOfText(definition);
  const table = tableOfKept(object, kept, schema);
  const withEmpty = { ...table, columns: [...table.columns, emptyColumn(kept)] };
  await connection.dialect.changeTable(connection, namespace, transitionTo(table, withEmpty), now);
  await putBack(connection, namespace, table, kept.column, physical);
  const lacking = kept.column.nullable ? 0 : await fillLacking(connection, namespace, table, kept.column, now);
  const whole = { ...table, columns: [...table.columns, restoredColumn(kept, lacking)] };
  const all = schemaWith(object, definition, schema, whole);
  await connection.dialect.changeTable(connection, namespace, transitionTo(withEmpty, whole), now);
  await connection.run(`DROP TABLE ${connection.quoted(physical)}`);
  return { schema: all, note: restoredNote(lacking) };
}

/** Writes the values back to the rows that had them. */
async function putBack(
  connection: ChangeConnection,
  namespace: string,
  table: Table,
  column: Column,
  physical: string,
): Promise<void> {
  const target = connection.quoted(connection.physicalTable(namespace, table.name));
  const value = `${connection.quoted(column.name)} = kept.${connection.quoted('value')}`;
  const source = `${connection.quoted(physical)} AS kept`;
  const sameRow = sameRowSql(connection, table);
  await connection.run(
    `UPDATE ${target} AS present SET ${value} FROM ${source} WHERE ${connection.dialect.guardSql}${sameRow}`,
  );
}

/**
 * Fills newer rows with the default of a required column, and returns the number of rows without a value. The column then
 * comes back nullable, so that the kept values can still be restored.
 */
async function fillLacking(
  connection: ChangeConnection,
  namespace: string,
  table: Table,
  column: Column,
  now: number,
): Promise<number> {
  const target = connection.quoted(connection.physicalTable(namespace, table.name));
  const name = connection.quoted(column.name);
  const { dialect } = connection;
  const lacking = `${dialect.guardSql}${name} IS NULL`;
  const fill = fillOf(column, now);
  if (fill.kind === 'random') {
    await connection.run(`UPDATE ${target} SET ${name} = ${dialect.randomSql} WHERE ${lacking}`);
  } else if (fill.kind === 'constant' && !column.unique) {
    const update = `UPDATE ${target} SET ${name} = ${dialect.typed(column, '?')} WHERE ${lacking}`;
    await connection.run(update, [dialect.toParam(column, fill.value)]);
  }
  return connection.number(`SELECT count(*) FROM ${target} WHERE ${lacking}`);
}
