import type { Document } from 'mongodb';
import { fillOf } from '#engine/model/column-change.ts';
import { type KeptColumn, keptOfText } from '#engine/model/kept.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import {
  type Restored,
  restorableTable,
  restoredColumn,
  restoredNote,
  schemaWith,
  tableOfKept,
} from '#engine/model/restore-rules.ts';
import { transitionTo } from '#engine/model/table-transition.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Column, Schema, Table } from '#protocol/schema.ts';
import { type QuarantineDocument, quarantineOf, type SchemaWork } from './collections.ts';
import { dropIndexes, indexesOf, makeIndexes } from './indexes.ts';
import { restoreOfText } from './plan.ts';
import { attachColumns, keyFields, objectOf } from './quarantine.ts';
import { rewriteRows } from './rows.ts';
import type { Job } from './units.ts';
import { countRows, isTaken, renameCollection } from './whole.ts';

const BATCH = 1000;

/** Throws `unsupported_change` with the reason where a kept object has no place any more. Reads only. */
export async function checkRestorable(work: SchemaWork, document: QuarantineDocument, from: Schema): Promise<void> {
  const object = objectOf(document);
  if (document.kind === 'column') {
    const kept = keptOfText(document.definition);
    const table = tableOfKept(object, kept, from);
    schemaWith(object, document.definition, from, withColumn(table, restoredColumn(kept, 0)));
    return;
  }
  schemaWith(object, document.definition, from, restorableTable(object, document.definition, from));
  const physical = physicalTable(document.namespace, document.table);
  if (await isTaken(work, physical)) {
    const name = `table ${document.namespace}.${document.table} (${document._id})`;
    const reason = 'the database holds documents under its name that no schema declares';
    throw new ApiError('unsupported_change', `${name} cannot be restored: ${reason}`);
  }
}

/** A restoration whose object is known to have a place. */
export function restoreJob(from: Schema, text: string): Job {
  const { document, now } = restoreOfText(text);
  const job = document.kind === 'table' ? tableJob(document, from) : columnJob(document, from, now);
  // Last of all: whoever finishes the change needs what is kept until then.
  const units = [...job.units, (work: SchemaWork) => markGone(work, document)];
  return { units, now, result: job.result };
}

async function markGone(work: SchemaWork, { _id }: QuarantineDocument): Promise<void> {
  await quarantineOf(work.db).updateOne({ _id }, { $set: { isGone: true } }, work.time());
}

/** What crash points leave: the table under its own name and not yet in the schema, until the change is finished. */
function tableJob(document: QuarantineDocument, from: Schema): Omit<Job, 'now'> {
  const { namespace, table: name } = document;
  const object = objectOf(document);
  const table = restorableTable(object, document.definition, from);
  const physical = physicalTable(namespace, name);
  return {
    units: [
      (work) => renameCollection(work, document.physical, physical),
      (work) => attachColumns(work, namespace, name, document._id),
      (work) => remakeIndexes(work, physical, table),
    ],
    result: () => Promise.resolve({ schema: schemaWith(object, document.definition, from, table), note: null }),
  };
}

/** What crash points leave: rows with some of their values, which no schema names, until the change is finished. */
function columnJob(document: QuarantineDocument, from: Schema, now: number): Omit<Job, 'now'> {
  const object = objectOf(document);
  const kept = keptOfText(document.definition);
  const table = tableOfKept(object, kept, from);
  const physical = physicalTable(document.namespace, table.name);
  const restored = async (work: SchemaWork) => {
    const lacking = await countLacking(work, physical, kept);
    return { lacking, table: withColumn(table, restoredColumn(kept, lacking)) };
  };
  return {
    units: [
      (work) => putBack(work, document.physical, physical, table, kept.column.name),
      (work) => fillLacking(work, physical, table, kept, now),
      async (work) => remakeIndexes(work, physical, (await restored(work)).table),
    ],
    result: async (work): Promise<Restored> => {
      const { lacking, table: back } = await restored(work);
      return { schema: schemaWith(object, document.definition, from, back), note: restoredNote(lacking) };
    },
  };
}

function withColumn(table: Table, column: Column): Table {
  return { ...table, columns: [...table.columns, column] };
}

async function remakeIndexes(work: SchemaWork, physical: string, table: Table): Promise<void> {
  const wanted = indexesOf(physical, table);
  await dropIndexes(work, physical, wanted);
  await makeIndexes(work, physical, wanted);
}

/** Values go back to the rows that had them. */
async function putBack(work: SchemaWork, kept: string, physical: string, table: Table, column: string): Promise<void> {
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
    await work.db.collection(physical).bulkWrite(updates, { ordered: false, ...work.time() });
    after = { _id: { $gt: last._id } };
  }
}

/**
 * Gives rows that came since what a required column has for them. Where it has nothing the column comes back nullable,
 * so that what was kept is not out of reach.
 */
async function fillLacking(
  work: SchemaWork,
  physical: string,
  table: Table,
  kept: KeptColumn,
  now: number,
): Promise<void> {
  const column = restoredColumn(kept, 0);
  const isRepeated = column.unique && fillOf(column, now).kind === 'constant';
  if (column.nullable || isRepeated) return;
  await rewriteRows(work, physical, transitionTo(table, withColumn(table, column)), now);
}

async function countLacking(work: SchemaWork, physical: string, { column }: KeptColumn): Promise<number> {
  if (column.nullable) return 0;
  return countRows(work, physical, { [column.name]: { $exists: false } });
}
