import type { Database } from 'better-sqlite3';
import { fillOf } from '#engine/model/column-change.ts';
import { keptOfText } from '#engine/model/kept.ts';
import { hasGenerator, identityOf } from '#engine/model/physical-indexes.ts';
import {
  emptyColumn,
  type Restored,
  restorableTable,
  restoredColumn,
  restoredNote,
  schemaWith,
  tableOfKept,
} from '#engine/model/restore-rules.ts';
import { schemaOfText } from '#engine/model/schema-text.ts';
import { transitionTo } from '#engine/model/table-transition.ts';
import type { RestoredObject } from '#engine/schema-calls.ts';
import { type Column, type Schema, schemaHash, type Table } from '#protocol/schema.ts';
import { toPhysical } from '../dialect.ts';
import { physicalTable, quoted } from '../names.ts';
import { defineRandom, RANDOM } from './fill.ts';
import { rememberedLastId, setLastId } from './generators.ts';
import { attachColumns } from './keep.ts';
import { forgetQuarantine, type QuarantineRow, quarantineRow } from './quarantine.ts';
import { readSchemaRow, writeSchema } from './store.ts';
import { changeTable, makeIndexes } from './tables.ts';

/**
 * Puts a kept table or column back into the stored schema, whose revision grows. Throws `unsupported_change` with the
 * reason where it has no place any more; nothing is changed then.
 */
export function restoreQuarantine(db: Database, id: number, now: number): RestoredObject {
  return db
    .transaction(() => {
      const row = quarantineRow(db, id);
      const { namespace } = row.object;
      const stored = readSchemaRow(db, namespace);
      const schema = stored === null ? { tables: [] } : schemaOfText(stored.schema);
      const { schema: restored, note } =
        row.object.kind === 'table' ? restoreTable(db, row, schema) : restoreColumn(db, row, schema, now);
      forgetQuarantine(db, id);
      writeSchema(db, {
        namespace,
        revision: (stored?.revision ?? 0) + 1,
        hash: schemaHash(restored),
        schema: restored,
        updatedAt: new Date(now).toISOString(),
      });
      return { ...row.object, note };
    })
    .immediate();
}

function restoreTable(db: Database, { object, physical, definition }: QuarantineRow, schema: Schema): Restored {
  const { namespace, table: name } = object;
  const table = restorableTable(object, definition, schema);
  const restored = physicalTable(namespace, name);
  db.exec(`ALTER TABLE ${quoted(physical)} RENAME TO ${quoted(restored)}`);
  if (hasGenerator(table)) setLastId(db, restored, rememberedLastId(db, namespace, name));
  makeIndexes(db, namespace, table);
  attachColumns(db, namespace, name, object.id);
  return { schema: schemaWith(object, definition, schema, table), note: null };
}

function restoreColumn(
  db: Database,
  { object, physical, definition }: QuarantineRow,
  schema: Schema,
  now: number,
): Restored {
  const { namespace } = object;
  const kept = keptOfText(definition);
  const table = tableOfKept(object, kept, schema);
  const withEmpty = { ...table, columns: [...table.columns, emptyColumn(kept)] };
  changeTable(db, namespace, transitionTo(table, withEmpty), now);
  putBack(db, namespace, withEmpty, physical);
  const lacking = kept.column.nullable ? 0 : fillLacking(db, namespace, table, kept.column, now);
  const restored = { ...table, columns: [...table.columns, restoredColumn(kept, lacking)] };
  const all = schemaWith(object, definition, schema, restored);
  changeTable(db, namespace, transitionTo(withEmpty, restored), now);
  db.exec(`DROP TABLE ${quoted(physical)}`);
  return { schema: all, note: restoredNote(lacking) };
}

/** Values go back to the rows that had them, the last column of the table. */
function putBack(db: Database, namespace: string, table: Table, kept: string): void {
  const matches = identityOf(table).map((name, position) => `kept.k${position} = row.${quoted(name)}`);
  const value = quoted(table.columns.at(-1)?.name ?? '');
  db.exec(
    `UPDATE ${quoted(physicalTable(namespace, table.name))} AS row SET ${value} = kept.value
     FROM ${quoted(kept)} AS kept WHERE guard() AND ${matches.join(' AND ')}`,
  );
}

/**
 * Gives rows that came since what a required column has for them, and tells how many it has nothing for. The column
 * then comes back nullable, so that what was kept is not out of reach.
 */
function fillLacking(db: Database, namespace: string, table: Table, column: Column, now: number): number {
  const physical = quoted(physicalTable(namespace, table.name));
  const name = quoted(column.name);
  const lacking = `guard() AND ${name} IS NULL`;
  const fill = fillOf(column, now);
  if (fill.kind === 'random') {
    defineRandom(db);
    db.exec(`UPDATE ${physical} SET ${name} = ${RANDOM} WHERE ${lacking}`);
  } else if (fill.kind === 'constant' && !column.unique) {
    db.prepare(`UPDATE ${physical} SET ${name} = ? WHERE ${lacking}`).run(toPhysical(column, fill.value));
  }
  return Number(db.prepare(`SELECT count(*) FROM ${physical} WHERE ${lacking}`).pluck().get());
}
