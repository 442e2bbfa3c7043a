import type { Database } from 'better-sqlite3';
import type { Column } from '../../../db_connector/protocol/columns.ts';
import { parseJson, writeJson } from '../../../db_connector/protocol/json.ts';
import { isJsonObject, type JsonObject } from '../../../db_connector/protocol/json-value.ts';
import { columnOf, type Table } from '../../../db_connector/protocol/schema.ts';
import { parseColumn } from '../../../db_connector/protocol/schema-column.ts';
import { SchemaReader } from '../../../db_connector/protocol/schema-reader.ts';
import { HIDDEN_ID, physicalTable, quoted } from './names.ts';
import { columnList } from './schema-ddl.ts';
import { quarantineName } from './schema-names.ts';
import { textOfSchema } from './schema-store.ts';
import { dropAllIndexes, rememberGenerator } from './schema-tables.ts';
import { changesKey, type TableTransition } from './schema-transition.ts';
import { sqlType } from './storage.ts';

/**
 * What is known of a column in quarantine, beside its values. The kept table has the columns `k0`, `k1`, … (the key of
 * each row, or the hidden row id) and `value`; rows whose value was NULL are left out.
 */
export interface KeptColumn {
  readonly column: Column;
  /** The key columns of its table, by their present names; null where rows are known by the hidden id. */
  readonly key: readonly Column[] | null;
  /**
   * Null while its table is in the schema; then the id of the table in quarantine, or 0 for one that was dropped. Rows
   * of another table of that name are not its rows.
   */
  readonly goneWith: number | null;
  /** The table has had another key since: the old one tells its rows no more, even where it comes back. */
  readonly isKeyLost: boolean;
}

const DROPPED = 0;

/** Takes a table out of the schema with its rows and its generator; its indexes can be made again. */
export function keepTable(db: Database, namespace: string, table: Table, now: number): void {
  const physical = physicalTable(namespace, table.name);
  rememberGenerator(db, namespace, table);
  dropAllIndexes(db, physical);
  const rows = Number(
    db
      .prepare(`SELECT count(*) FROM ${quoted(physical)}`)
      .pluck()
      .get(),
  );
  const definition = textOfSchema({ tables: [table] });
  const kept = register(db, { namespace, table: table.name, column: null, definition, rows, now });
  db.exec(`ALTER TABLE ${quoted(physical)} RENAME TO ${quoted(kept.physical)}`);
  detachColumns(db, namespace, table.name, kept.id);
}

/** Copies what a column holds, with the identity of its rows. The caller then drops the column itself. */
export function keepColumn(db: Database, namespace: string, table: Table, column: Column, now: number): void {
  const physical = quoted(physicalTable(namespace, table.name));
  const key = table.primaryKey?.map((name) => columnOf(table, name, 'primaryKey')) ?? null;
  const value = quoted(column.name);
  const rows = Number(db.prepare(`SELECT count(${value}) FROM ${physical}`).pluck().get());
  const definition = textOfKept({ column, key, goneWith: null, isKeyLost: false });
  const about = { namespace, table: table.name, column: column.name, definition, rows, now };
  const kept = quoted(register(db, about).physical);
  const types = key?.map(sqlType) ?? ['INTEGER'];
  const names = types.map((_, position) => `k${position}`);
  const declared = names.map((name, position) => `${name} ${types[position]} NOT NULL`);
  db.exec(
    `CREATE TABLE ${kept} (${declared.join(', ')}, value ${sqlType(column)} NOT NULL, PRIMARY KEY (${names.join(', ')})) STRICT`,
  );
  db.exec(
    `INSERT INTO ${kept} (${names.join(', ')}, value) SELECT ${columnList(identityOf(table))}, ${value}
     FROM ${physical} WHERE guard() AND ${value} IS NOT NULL`,
  );
}

/** The columns by which a row of a table is known. */
export function identityOf(table: Table): readonly string[] {
  return table.primaryKey ?? [HIDDEN_ID];
}

/** Columns in quarantine go with their table, and know its key by its new names. */
export function followChange(db: Database, namespace: string, change: TableTransition): void {
  const { from, to, sources } = change;
  const newNames = new Map([...sources].map(([name, source]) => [source.name, name]));
  changeKept(db, namespace, from.name, null, (kept) => ({
    table: to.name,
    kept: {
      ...kept,
      key: kept.key?.map((column) => ({ ...column, name: newNames.get(column.name) ?? column.name })) ?? null,
      isKeyLost: kept.isKeyLost || changesKey(change),
    },
  }));
}

/** When their table leaves the schema. */
export function detachColumns(db: Database, namespace: string, table: string, goneWith = DROPPED): void {
  changeKept(db, namespace, table, null, (kept) => ({ table, kept: { ...kept, goneWith } }));
}

/** When their table comes back. */
export function attachColumns(db: Database, namespace: string, table: string, goneWith: number): void {
  changeKept(db, namespace, table, goneWith, (kept) => ({ table, kept: { ...kept, goneWith: null } }));
}

function changeKept(
  db: Database,
  namespace: string,
  table: string,
  goneWith: number | null,
  change: (kept: KeptColumn) => { readonly table: string; readonly kept: KeptColumn },
): void {
  const rows = db
    .prepare<[string, string], { id: number; definition: string }>(
      "SELECT id, definition FROM _quarantine WHERE kind = 'column' AND namespace = ? AND table_name = ?",
    )
    .all(namespace, table);
  const update = db.prepare('UPDATE _quarantine SET table_name = ?, definition = ? WHERE id = ?');
  for (const { id, definition } of rows) {
    const kept = keptOfText(definition);
    if (kept.goneWith !== goneWith) continue;
    const changed = change(kept);
    update.run(changed.table, textOfKept(changed.kept), id);
  }
}

interface NewObject {
  readonly namespace: string;
  readonly table: string;
  readonly column: string | null;
  readonly definition: string;
  readonly rows: number;
  readonly now: number;
}

/** Gives the id, and the physical name under which the object is kept. */
function register(
  db: Database,
  { namespace, table, column, definition, rows, now }: NewObject,
): { readonly id: number; readonly physical: string } {
  const { lastInsertRowid } = db
    .prepare(
      `INSERT INTO _quarantine (namespace, kind, table_name, column_name, physical_name, definition, row_count, quarantined_at)
       VALUES (?, ?, ?, ?, '', ?, ?, ?)`,
    )
    .run(namespace, column === null ? 'table' : 'column', table, column, definition, rows, new Date(now).toISOString());
  const id = Number(lastInsertRowid);
  const physical = quarantineName(id, namespace, table, column);
  db.prepare('UPDATE _quarantine SET physical_name = ? WHERE id = ?').run(physical, id);
  return { id, physical };
}

function textOfKept({ column, key, goneWith, isKeyLost }: KeptColumn): string {
  return writeJson({ column: { ...column }, key: key?.map((part) => ({ ...part })) ?? null, goneWith, isKeyLost });
}

export function keptOfText(text: string): KeptColumn {
  const json = parseJson(text);
  if (!isJsonObject(json)) throw new Error('a definition in _quarantine is not readable');
  return {
    column: readColumn(json.column),
    key: Array.isArray(json.key) ? json.key.map(readColumn) : null,
    goneWith: typeof json.goneWith === 'number' ? json.goneWith : null,
    isKeyLost: json.isKeyLost === true,
  };
}

function readColumn(json: JsonObject[string] | undefined): Column {
  return parseColumn(new SchemaReader(), json ?? null, 'definition').column;
}
