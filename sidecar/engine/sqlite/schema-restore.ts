import type { Database } from 'better-sqlite3';
import { ApiError } from '../../../db_connector/protocol/errors.ts';
import {
  type Column,
  columnOf,
  findTable,
  parseSchema,
  type Schema,
  schemaHash,
  schemaToJson,
  type Table,
} from '../../../db_connector/protocol/schema.ts';
import type { QuarantinedObject, RestoredObject } from '../schema-change.ts';
import { physicalTable, quoted } from './names.ts';
import { storageForm } from './schema-convert.ts';
import { hasGenerator } from './schema-ddl.ts';
import { defineRandom, fillOf, RANDOM } from './schema-fill.ts';
import { rememberedLastId, setLastId } from './schema-generators.ts';
import { attachColumns, identityOf, type KeptColumn, keptOfText } from './schema-keep.ts';
import { forgetQuarantine, type QuarantineRow, quarantineRow } from './schema-quarantine.ts';
import { readSchemaRow, schemaOfText, textOfSchema, writeSchemaRow } from './schema-store.ts';
import { changeTable, makeIndexes } from './schema-tables.ts';
import type { TableTransition } from './schema-transition.ts';

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
      writeSchemaRow(db, {
        namespace,
        revision: (stored?.revision ?? 0) + 1,
        hash: schemaHash(restored),
        schema: textOfSchema(restored),
        updatedAt: new Date(now).toISOString(),
      });
      return { ...row.object, note };
    })
    .immediate();
}

/** The whole schema with the object in it. */
interface Restored {
  readonly schema: Schema;
  readonly note: string | null;
}

function restoreTable(db: Database, { object, physical, definition }: QuarantineRow, schema: Schema): Restored {
  const { namespace, table: name } = object;
  if (findTable(schema, name) !== null) throw refusal(object, `a table ${name} is declared; rename or remove it first`);
  const table = findTable(schemaOfText(definition), name);
  if (table === null) throw new Error(`the definition of quarantined object ${object.id} lacks its table`);
  const restored = physicalTable(namespace, name);
  db.exec(`ALTER TABLE ${quoted(physical)} RENAME TO ${quoted(restored)}`);
  if (hasGenerator(table)) setLastId(db, restored, rememberedLastId(db, namespace, name));
  makeIndexes(db, namespace, table);
  attachColumns(db, namespace, name, object.id);
  return { schema: checked(object, { tables: [...schema.tables, table] }), note: null };
}

function restoreColumn(
  db: Database,
  { object, physical, definition }: QuarantineRow,
  schema: Schema,
  now: number,
): Restored {
  const { namespace } = object;
  const kept = keptOfText(definition);
  const table = findTable(schema, object.table);
  if (table === null || kept.goneWith !== null) throw refusal(object, `its table ${object.table} is no longer there`);
  if (table.columns.some(({ name }) => name === kept.column.name)) {
    throw refusal(object, `the table has a column ${kept.column.name}; rename or remove it first`);
  }
  checkKey(object, table, kept);
  const { default: _, ...bare } = kept.column;
  const empty: Column = { ...bare, nullable: true, unique: false, autoIncrement: false };
  const withEmpty = { ...table, columns: [...table.columns, empty] };
  changeTable(db, namespace, transitionTo(table, withEmpty), now);
  putBack(db, namespace, withEmpty, physical);
  const lacking = kept.column.nullable ? 0 : fillLacking(db, namespace, table, kept.column, now);
  const column = { ...kept.column, autoIncrement: false, nullable: kept.column.nullable || lacking > 0 };
  const restored = { ...table, columns: [...table.columns, column] };
  const all = checked(object, { tables: schema.tables.map((other) => (other === table ? restored : other)) });
  changeTable(db, namespace, transitionTo(withEmpty, restored), now);
  db.exec(`DROP TABLE ${quoted(physical)}`);
  const rows = lacking === 1 ? '1 newer row has' : `${lacking} newer rows have`;
  const note = lacking === 0 ? null : `it is nullable now, because ${rows} no value for it`;
  return { schema: all, note };
}

/** Rows must still be known by what they were known by when the column was taken out. */
function checkKey(object: QuarantinedObject, table: Table, kept: KeptColumn): void {
  const keptKey = kept.key?.map((column) => [column.name, storageForm(column)].join(' ')) ?? [];
  const key = table.primaryKey?.map((name) => [name, storageForm(columnOf(table, name, 'primaryKey'))].join(' ')) ?? [];
  if (kept.isKeyLost || keptKey.join(', ') !== key.join(', ')) {
    throw refusal(object, `the primary key of ${table.name} has changed since, so its rows cannot be told`);
  }
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
    db.prepare(`UPDATE ${physical} SET ${name} = ? WHERE ${lacking}`).run(fill.value);
  }
  return Number(db.prepare(`SELECT count(*) FROM ${physical} WHERE ${lacking}`).pluck().get());
}

function transitionTo(from: Table, to: Table): TableTransition {
  const sources = new Map(from.columns.map((column) => [column.name, column]));
  return { from, to, sources, removed: [] };
}

/** The whole schema must obey the rules of a declared one: it may have come to its limits since. */
function checked(object: QuarantinedObject, schema: Schema): Schema {
  try {
    return parseSchema(schemaToJson(schema)).schema;
  } catch (error) {
    if (error instanceof ApiError) throw refusal(object, error.message);
    throw error;
  }
}

function refusal(object: QuarantinedObject, reason: string): ApiError {
  const name = [object.namespace, object.table, ...(object.column === null ? [] : [object.column])].join('.');
  return new ApiError('unsupported_change', `${object.kind} ${name} (${object.id}) cannot be restored: ${reason}`);
}
