import { DROPPED, followed, type KeptColumn, keptOfText, textOfKept } from '#engine/model/kept.ts';
import { quarantineName } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { QuarantinedObject } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import type { SchemaConnection } from './connection.ts';

/** A row of `_quarantine`. */
export interface QuarantineRow {
  readonly object: QuarantinedObject;
  /** Name of the kept table. */
  readonly physical: string;
  /** JSON text of the table as a schema, or of a `KeptColumn`. */
  readonly definition: string;
}

const COLUMNS = 'id, namespace, kind, table_name, column_name, row_count, quarantined_at, physical_name, definition';

/** Oldest first; null for all namespaces. */
export async function quarantineRows(connection: SchemaConnection, namespace: string | null): Promise<QuarantineRow[]> {
  const where = namespace === null ? '' : 'WHERE namespace = ? ';
  const sql = `SELECT ${COLUMNS} FROM _quarantine ${where}ORDER BY id`;
  return (await connection.rows(sql, namespace === null ? [] : [namespace])).map(rowOf);
}

/** Throws `invalid_request` if nothing has the id. `lock` keeps the row until the transaction ends. */
export async function quarantineRow(
  connection: SchemaConnection,
  id: number,
  { lock = false } = {},
): Promise<QuarantineRow> {
  const sql = `SELECT ${COLUMNS} FROM _quarantine WHERE id = ?${lock ? connection.dialect.lockRowsSql : ''}`;
  const [row] = Number.isSafeInteger(id) ? await connection.rows(sql, [id]) : [];
  if (row === undefined) throw new ApiError('invalid_request', `nothing in quarantine has the id ${id}`);
  return rowOf(row);
}

function rowOf(row: readonly unknown[]): QuarantineRow {
  const [id, namespace, kind, table, column, rows, quarantinedAt, physical, definition] = row;
  return {
    object: {
      id: Number(id),
      namespace: String(namespace),
      kind: kind === 'table' ? 'table' : 'column',
      table: String(table),
      column: column === null ? null : String(column),
      rows: Number(rows),
      quarantinedAt: String(quarantinedAt),
    },
    physical: String(physical),
    definition: String(definition),
  };
}

export interface NewObject {
  readonly namespace: string;
  readonly table: string;
  /** Null for a whole table. */
  readonly column: string | null;
  readonly definition: string;
  readonly rows: number;
  /** ISO 8601 UTC. */
  readonly quarantinedAt: string;
}

/** Returns the id and the physical name of the kept object. */
export async function register(
  connection: SchemaConnection,
  { namespace, table, column, definition, rows, quarantinedAt }: NewObject,
): Promise<{ readonly id: number; readonly physical: string }> {
  const id = await connection.insert(
    `INSERT INTO _quarantine
       (namespace, kind, table_name, column_name, physical_name, definition, row_count, quarantined_at)
     VALUES (?, ?, ?, ?, '', ?, ?, ?)`,
    [namespace, column === null ? 'table' : 'column', table, column, definition, rows, quarantinedAt],
  );
  const physical = quarantineName(id, connection.physicalTable(namespace, table), column);
  await connection.run('UPDATE _quarantine SET physical_name = ? WHERE id = ?', [physical, id]);
  return { id, physical };
}

export async function forgetQuarantine(connection: SchemaConnection, id: number): Promise<void> {
  await connection.run('DELETE FROM _quarantine WHERE id = ?', [id]);
}

/** Columns in quarantine follow their table and the new names of its key. */
export function followChange(connection: SchemaConnection, namespace: string, change: TableTransition): Promise<void> {
  const { from, to } = change;
  return changeKept(connection, namespace, from.name, null, (kept) => [to.name, followed(kept, change)]);
}

/** When their table leaves the schema. */
export function detachColumns(
  connection: SchemaConnection,
  namespace: string,
  table: string,
  goneWith = DROPPED,
): Promise<void> {
  return changeKept(connection, namespace, table, null, (kept) => [table, { ...kept, goneWith }]);
}

/** When their table comes back. */
export function attachColumns(
  connection: SchemaConnection,
  namespace: string,
  table: string,
  goneWith: number,
): Promise<void> {
  return changeKept(connection, namespace, table, goneWith, (kept) => [table, { ...kept, goneWith: null }]);
}

async function changeKept(
  connection: SchemaConnection,
  namespace: string,
  table: string,
  goneWith: number | null,
  change: (kept: KeptColumn) => readonly [table: string, kept: KeptColumn],
): Promise<void> {
  const sql = "SELECT id, definition FROM _quarantine WHERE kind = 'column' AND namespace = ? AND table_name = ?";
  for (const [id, definition] of await connection.rows(sql, [namespace, table])) {
    const kept = keptOfText(String(definition));
    if (kept.goneWith !== goneWith) continue;
    const [name, changed] = change(kept);
    const update = 'UPDATE _quarantine SET table_name = ?, definition = ? WHERE id = ?';
    await connection.run(update, [name, textOfKept(changed), Number(id)]);
  }
}
