import { FIRST_FORMAT_VERSION, formatOf, schemaOfText, textOfSchema } from '#engine/model/schema-text.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import type { Schema } from '#protocol/schema.ts';
import type { SchemaConnection } from './connection.ts';

/** A stored schema as JSON text. */
export interface StoredText extends Omit<StoredSchema, 'schema'> {
  readonly schema: string;
}

/** The row of `_schemas`; `lock` keeps it as it is until the transaction ends. */
export async function readStored(
  connection: SchemaConnection,
  namespace: string,
  options?: { readonly lock: boolean },
): Promise<StoredSchema | null> {
  const stored = await readStoredText(connection, namespace, options);
  return stored === null ? null : { ...stored, schema: schemaOfText(stored.schema) };
}

export async function readStoredText(
  connection: SchemaConnection,
  namespace: string,
  { lock } = { lock: false },
): Promise<StoredText | null> {
  const columns = connection.list(['revision', 'hash', 'schema', 'updated_at']);
  const sql = `SELECT ${columns} FROM _schemas WHERE namespace = ?${lock ? connection.dialect.lockRowsSql : ''}`;
  const [row] = await connection.rows(sql, [namespace]);
  if (row === undefined) return null;
  const [revision, hash, schema, updatedAt] = row;
  return {
    namespace,
    revision: Number(revision),
    hash: String(hash),
    schema: String(schema),
    updatedAt: String(updatedAt),
  };
}

/**
 * Replaces the row that has the revision `before`; null if there is no row yet. Throws `StaleSchemaError` if the row has
 * another revision, or if another process has made the first row meanwhile.
 */
export async function writeStored(
  connection: SchemaConnection,
  stored: StoredSchema,
  before: number | null = stored.revision,
): Promise<void> {
  const { namespace, revision, hash, schema, updatedAt } = stored;
  await raiseFormat(connection, schema);
  const text = connection.quoted('schema');
  const values = [revision, hash, textOfSchema(schema), updatedAt, namespace];
  if (before === null) {
    const insert = `INSERT INTO _schemas (revision, hash, ${text}, updated_at, namespace) VALUES (?, ?, ?, ?, ?)`;
    const isMade = (await connection.run(`${insert} ${connection.dialect.keepSql('namespace')}`, values)) > 0;
    if (!isMade) throw new StaleSchemaError(namespace);
    return;
  }
  const update = `UPDATE _schemas SET revision = ?, hash = ?, ${text} = ?, updated_at = ?
    WHERE namespace = ? AND revision = ?`;
  if ((await connection.run(update, [...values, before])) === 0) throw new StaleSchemaError(namespace);
}

/** In the transaction that stores the schema, or a change that leads to it. */
export async function raiseFormat(connection: SchemaConnection, schema: Schema): Promise<void> {
  const format = formatOf(schema);
  if (format === FIRST_FORMAT_VERSION) return;
  const older = Array.from({ length: format - FIRST_FORMAT_VERSION }, (_, i) => String(FIRST_FORMAT_VERSION + i));
  const places = older.map(() => '?').join(', ');
  const update = `UPDATE _meta SET value = ? WHERE name = 'format' AND value IN (${places})`;
  await connection.run(update, [String(format), ...older]);
}
