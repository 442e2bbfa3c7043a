import type { Database } from 'better-sqlite3';
import {
  DROPPED,
  followed,
  type KeptColumn,
  keptOf,
  keptOfText,
  textOfKept,
  textOfKeptTable,
} from '#engine/model/kept.ts';
import { identityOf } from '#engine/model/physical-indexes.ts';
import { quarantineName } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { Column, Table } from '#protocol/schema.ts';
import { sqlType } from '../dialect.ts';
import { physicalTable, quoted } from '../names.ts';
import { columnList } from './ddl.ts';
import { dropAllIndexes, rememberGenerator } from './tables.ts';

/** Takes a table out of the schema with its rows and its generator; its indexes can be made again. */
export function keepTable(db: Database, namespace: string, table: Table, now: number, part?: string): void {
  const physical = physicalTable(namespace, table.name);
  rememberGenerator(db, namespace, table);
  dropAllIndexes(db, physical);
  const rows = Number(
    db
      .prepare(`SELECT count(*) FROM ${quoted(physical)}`)
      .pluck()
      .get(),
  );
  const definition = textOfKeptTable(table, part);
  const quarantinedAt = new Date(now).toISOString();
  const kept = register(db, { namespace, table: table.name, column: null, definition, rows, quarantinedAt });
  db.exec(`ALTER TABLE ${quoted(physical)} RENAME TO ${quoted(kept.physical)}`);
  detachColumns(db, namespace, table.name, kept.id);
}

/**
 * Copies what a column holds, with the identity of its rows, into a table with the columns `k0`, `k1`, … and `value`. The
 * caller then drops the column itself.
 */
export function keepColumn(
  db: Database,
  namespace: string,
  table: Table,
  column: Column,
  now: number,
  part?: string,
): void {
  const physical = quoted(physicalTable(namespace, table.name));
  const value = quoted(column.name);
  const rows = Number(db.prepare(`SELECT count(${value}) FROM ${physical}`).pluck().get());
  const definition = keptOf(table, column, part);
  const quarantinedAt = new Date(now).toISOString();
  const name = { namespace, table: table.name, column: column.name };
  const about = { ...name, definition: textOfKept(definition), rows, quarantinedAt };
  const kept = quoted(register(db, about).physical);
  const types = definition.key?.map(sqlType) ?? ['INTEGER'];
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

/** Columns in quarantine go with their table, and know its key by its new names. */
export function followChange(db: Database, namespace: string, change: TableTransition): void {
  const { from, to } = change;
  changeKept(db, namespace, from.name, null, (kept) => ({ table: to.name, kept: followed(kept, change) }));
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
  /** ISO 8601 UTC. */
  readonly quarantinedAt: string;
}

/** Gives the id, and the physical name under which the object is kept. */
export function register(
  db: Database,
  { namespace, table, column, definition, rows, quarantinedAt }: NewObject,
): { readonly id: number; readonly physical: string } {
  const { lastInsertRowid } = db
    .prepare(
      `INSERT INTO _quarantine (namespace, kind, table_name, column_name, physical_name, definition, row_count, quarantined_at)
       VALUES (?, ?, ?, ?, '', ?, ?, ?)`,
    )
    .run(namespace, column === null ? 'table' : 'column', table, column, definition, rows, quarantinedAt);
  const id = Number(lastInsertRowid);
  const physical = quarantineName(id, physicalTable(namespace, table), column);
  db.prepare('UPDATE _quarantine SET physical_name = ? WHERE id = ?').run(physical, id);
  return { id, physical };
}
