import type { Database } from 'better-sqlite3';
import type { QuarantinedObject } from '#engine/schema-calls.ts';
import { ApiError } from '#protocol/errors.ts';
import { quoted } from '../names.ts';

export interface QuarantineRow {
  readonly object: QuarantinedObject;
  readonly physical: string;
  readonly definition: string;
}

const COLUMNS = `id, namespace, kind, table_name AS "table", column_name AS "column", row_count AS rows,
  quarantined_at AS quarantinedAt, physical_name AS physical, definition`;

type RawRow = QuarantinedObject & { readonly physical: string; readonly definition: string };

/** Oldest first; null means of all namespaces. */
export function listQuarantine(db: Database, namespace: string | null): QuarantinedObject[] {
  return quarantineRows(db, namespace).map(({ object }) => object);
}

export function quarantineRows(db: Database, namespace: string | null): QuarantineRow[] {
  const sql = `SELECT ${COLUMNS} FROM _quarantine WHERE @namespace IS NULL OR namespace = @namespace ORDER BY id`;
  return db.prepare<[{ namespace: string | null }], RawRow>(sql).all({ namespace }).map(split);
}

/** Deletes a kept object for good. */
export function purgeQuarantine(db: Database, id: number): QuarantinedObject {
  return db
    .transaction(() => {
      const { object, physical } = quarantineRow(db, id);
      db.exec(`DROP TABLE ${quoted(physical)}`);
      forgetQuarantine(db, id);
      return object;
    })
    .immediate();
}

export function quarantineRow(db: Database, id: number): QuarantineRow {
  const row = db.prepare<[number], RawRow>(`SELECT ${COLUMNS} FROM _quarantine WHERE id = ?`).get(id);
  if (row === undefined) throw new ApiError('invalid_request', `nothing in quarantine has the id ${id}`);
  return split(row);
}

function split({ physical, definition, ...object }: RawRow): QuarantineRow {
  return { object: { ...object, id: Number(object.id), rows: Number(object.rows) }, physical, definition };
}

export function forgetQuarantine(db: Database, id: number): void {
  db.prepare('DELETE FROM _quarantine WHERE id = ?').run(id);
}
