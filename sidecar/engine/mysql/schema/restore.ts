import { keptOfText, partOfKeptTable } from '#engine/model/kept.ts';
import {
  refusal,
  restorableTable,
  restoredColumn,
  restoredNote,
  schemaWith,
  tableOfKept,
} from '#engine/model/restore-rules.ts';
import type { QuarantinedObject, RestoredObject } from '#engine/schema-calls.ts';
import { nameFault } from '#engine/sql/schema/fit.ts';
import { forgetQuarantine, type QuarantineRow, quarantineRow } from '#engine/sql/schema/quarantine.ts';
import type { Schema } from '#protocol/schema.ts';
import { quoted } from '../names.ts';
import { begin, finishPending } from './apply.ts';
import { carryOut, type SchemaTools } from './carry-out.ts';
import { tableMarks } from './inspect.ts';
import type { Unit } from './pending.ts';
import { readRow } from './store.ts';
import { inTurn } from './turn.ts';
import { lackingRows } from './units.ts';

/** Puts a kept table or column back into the stored schema, whose revision grows, in the way of every other change. */
export async function restoreQuarantine(tools: SchemaTools, id: number, now: number): Promise<RestoredObject> {
  const { connection } = tools;
  const { namespace } = (await quarantineRow(connection, id)).object;
  return inTurn(connection, namespace, async () => {
    await finishPending(tools, namespace);
    const stored = (await readRow(connection, namespace))?.stored ?? null;
    const kept = await quarantineRow(connection, id);
    const unit = await restoringUnit(tools, kept, stored?.schema ?? { tables: [] });
    const plan = { units: [unit], target: null, now };
    const { row, pending } = await begin(connection, namespace, stored?.revision ?? null, async () => plan);
    await carryOut(tools, row, pending);
    return { ...kept.object, note: await noteOf(tools, unit, namespace) };
  });
}

/** Deletes a kept object for good. Cut off in between it is still listed, and can be purged again. */
export async function purgeQuarantine(tools: SchemaTools, id: number): Promise<QuarantinedObject> {
  const { connection } = tools;
  const { namespace } = (await quarantineRow(connection, id)).object;
  return inTurn(connection, namespace, async () => {
    await finishPending(tools, namespace);
    const { object, physical } = await quarantineRow(connection, id);
    await connection.run(`DROP TABLE IF EXISTS ${quoted(physical)}`);
    await forgetQuarantine(connection, id);
    return object;
  });
}

/** Throws `unsupported_change` with the reason where the object has no place any more. */
async function restoringUnit(
  { connection }: SchemaTools,
  { object, physical, definition }: QuarantineRow,
  schema: Schema,
): Promise<Unit> {
  if (!(await tableMarks(connection, [physical])).has(physical)) {
    throw refusal(object, 'what was kept of it is no longer in the database; purge it');
  }
  if (object.kind === 'table') {
    const table = restorableTable(object, definition, schema);
    const fault = await nameFault(connection, object.namespace, object.table);
    if (fault !== null) throw refusal(object, fault);
    schemaWith(object, definition, schema, table);
    return { kind: 'restoreTable', table, id: object.id, physical, part: partOfKeptTable(definition, object.table) };
  }
  const kept = keptOfText(definition);
  const table = tableOfKept(object, kept, schema);
  schemaWith(object, definition, schema, { ...table, columns: [...table.columns, restoredColumn(kept, 0)] });
  return { kind: 'restoreColumn', table, kept, id: object.id, physical };
}

/** A required column that has come back nullable has rows that lack it. */
async function noteOf({ connection }: SchemaTools, unit: Unit, namespace: string): Promise<string | null> {
  if (unit.kind !== 'restoreColumn') return null;
  return restoredNote(await lackingRows({ connection, namespace }, unit));
}
