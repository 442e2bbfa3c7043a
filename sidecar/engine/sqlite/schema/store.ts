import type { Database } from 'better-sqlite3';
import { formatOf, textOfSchema } from '#engine/model/schema-text.ts';
import type { Schema } from '#protocol/schema.ts';

/** A row of `_schemas`. */
export interface SchemaRow {
  readonly namespace: string;
  readonly revision: number;
  readonly hash: string;
  /** JSON text of the normalised schema. */
  readonly schema: string;
  readonly updatedAt: string;
}

export function readSchemaRow(db: Database, namespace: string): SchemaRow | null {
  const sql = 'SELECT namespace, revision, hash, schema, updated_at AS updatedAt FROM _schemas WHERE namespace = ?';
  const row = db.prepare<[string], SchemaRow>(sql).get(namespace);
  return row === undefined ? null : { ...row, revision: Number(row.revision) };
}

export function writeSchema(db: Database, row: Omit<SchemaRow, 'schema'> & { readonly schema: Schema }): void {
  const format = formatOf(row.schema);
  db.prepare("UPDATE _meta SET value = ? WHERE name = 'format' AND CAST(value AS INTEGER) < ?").run(
    String(format),
    format,
  );
  writeSchemaRow(db, { ...row, schema: textOfSchema(row.schema) });
}

function writeSchemaRow(db: Database, row: SchemaRow): void {
  db.prepare(
    `INSERT INTO _schemas (namespace, revision, hash, schema, updated_at) VALUES (@namespace, @revision, @hash, @schema, @updatedAt)
     ON CONFLICT (namespace) DO UPDATE SET
       revision = excluded.revision, hash = excluded.hash, schema = excluded.schema, updated_at = excluded.updated_at`,
  ).run(row);
}
