import type { Document } from 'mongodb';
import { fillOf } from '#engine/model/column-change.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import { restoredColumn } from '#engine/model/restore-rules.ts';
import { transitionTo } from '#engine/model/table-transition.ts';
import { type RestoreColumnUnit, type RestoreTableUnit, restoredTable } from '#engine/pending/plan.ts';
import type { Table } from '#protocol/schema.ts';
import type { SchemaPlace, SchemaWork, Step, StepWork } from './collections.ts';
import { remakeIndexes } from './indexes.ts';
import { attachColumns, forgetObject, keyFields, markGone } from './quarantine.ts';
import { rewriteRows } from './rows.ts';
import { countRows, renameCollection } from './whole.ts';

const BATCH = 1000;

/** A crash leaves the table under its own name and not yet in the schema, until the change is finished. */
export function restoreTableSteps({ namespace }: SchemaPlace, unit: RestoreTableUnit): Step[] {
  const { table, id } = unit;
  const physical = physicalTable(namespace, table.name);
  return [
    (work) => renameCollection(work, unit.physical, physical),
    (work) => attachColumns(work, namespace, table.name, id),
    (work) => remakeIndexes(work, physical, table),
    // Last: a sidecar that finishes the change needs the kept object until then. Nothing is left to drop under its name.
    (work) => forgetObject(work, id),
  ];
}

/** A crash leaves rows with some of their values, which no schema names, until the change is finished. */
export function restoreColumnSteps({ namespace, now }: SchemaPlace, unit: RestoreColumnUnit): Step[] {
  const { table, id } = unit;
  const physical = physicalTable(namespace, table.name);
  return [
    (work) => putBack(work, unit.physical, physical, table, unit.kept.column.name),
    (work) => fillLacking(work, physical, unit, now),
    async (work) => remakeIndexes(work, physical, restoredTable(unit, await countLacking(work, namespace, unit))),
    (work) => markGone(work, id),
  ];
}

/** Puts values back into the rows that had them. */
async function putBack(work: StepWork, kept: string, physical: string, table: Table, column: string): Promise<void> {
  const identity = keyFields(table);
  let after: Document = {};
  for (;;) {
    const found = await work.db
      .collection(kept)
      .find(after, { promoteValues: false, ...work.time() })
      .sort({ _id: 1 })
      .limit(BATCH)
      .toArray();
    const last = found.at(-1);
    if (last === undefined) return;
    const updates = found.map((document) => ({
      updateOne: {
        filter: Object.fromEntries(identity.map((name, position) => [name, document[`k${position}`]])) as Document,
        update: { $set: { [column]: document.value } },
      },
    }));
    await work.checkTurn();
    await work.db.collection(physical).bulkWrite(updates, { ordered: false, ...work.time() });
    after = { _id: { $gt: last._id } };
  }
}

/**
 * Fills newer rows of a required column. If there is no value for them the column comes back nullable, so that the kept
 * values can be restored.
 */
async function fillLacking(work: StepWork, physical: string, unit: RestoreColumnUnit, now: number): Promise<void> {
  const { table, kept } = unit;
  const column = restoredColumn(kept, 0);
  const isRepeated = column.unique && fillOf(column, now).kind === 'constant';
  if (column.nullable || isRepeated) return;
  await rewriteRows(work, physical, transitionTo(table, restoredTable(unit, 0)), now);
}

/** Number of rows without a value for a required column. */
export async function countLacking(
  work: SchemaWork,
  namespace: string,
  { table, kept: { column } }: RestoreColumnUnit,
): Promise<number> {
  if (column.nullable) return 0;
  return countRows(work, physicalTable(namespace, table.name), { [column.name]: { $exists: false } });
}
