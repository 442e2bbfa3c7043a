import { schemaOfText } from '#engine/model/schema-text.ts';
import type { StoredChange } from '#engine/pending/changes.ts';
import type { Plan } from '#engine/pending/plan.ts';
import { planOfText } from '#engine/pending/plan-text.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import type { StoredSchema } from '#engine/schema-calls.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import type { Session } from '#engine/sql/session.ts';
import { ApiError } from '#protocol/errors.ts';

/**
 * A row of `_schemas`. With a plan it has the revision that the change leads to, which refuses every statement that was
 * compiled before, and the schema that the change started from.
 */
export interface StoredRow extends StoredChange {
  readonly stored: StoredSchema;
}

export interface PendingRow extends StoredRow {
  readonly plan: Plan;
}

/** A single statement: of two, one could see the end of a change and the other not. `lock` as for `readStored`. */
export async function readRow(
  connection: SchemaConnection,
  namespace: string,
  { lock = false } = {},
): Promise<StoredRow | null> {
  const sql = `SELECT revision, hash, \`schema\`, updated_at, pending FROM _schemas WHERE namespace = ?`;
  const [row] = await connection.rows(lock ? `${sql} FOR UPDATE` : sql, [namespace]);
  if (row === undefined) return null;
  const [revision, hash, schema, updatedAt, pending] = row;
  const stored = {
    namespace,
    revision: Number(revision),
    hash: String(hash),
    schema: schemaOfText(String(schema)),
    updatedAt: String(updatedAt),
  };
  return { stored, plan: pending === null ? null : planOfText(String(pending), namespace) };
}

/** Whether the namespace had no schema before the pending change. */
export function isFirst({ stored }: StoredRow): boolean {
  return stored.hash === '';
}

/** Schema for others while a change is pending: the one before it, with a revision that is refused. */
export function unfinished(row: StoredRow): StoredSchema | null {
  if (isFirst(row)) return null;
  return { ...row.stored, revision: row.stored.revision - 1, isUnfinished: true };
}

/** Rejects with the reason why a statement had another revision than the stored one. */
export async function refuseStale(session: Session, namespace: string): Promise<never> {
  const sql = 'SELECT 1 FROM _schemas WHERE namespace = ? AND pending IS NOT NULL';
  const { rows } = await session.query(sql, [namespace]);
  if (rows.length > 0) {
    throw new ApiError('sync_in_progress', `a schema sync of namespace ${namespace} is running; try again`);
  }
  throw new StaleSchemaError(namespace);
}
