import { LOCK_LIFETIME_MS } from '#engine/schema-calls.ts';
import type { SchemaConnection } from './connection.ts';

/**
 * Takes or renews the lock of a namespace; false if another owner holds it. `now` in epoch milliseconds. A renewal time far
 * in the future comes from a wrong clock and does not hold.
 */
export async function lockNamespace(
  connection: SchemaConnection,
  namespace: string,
  owner: string,
  now: number,
): Promise<boolean> {
  const affected = await connection.run(
    `INSERT INTO _locks AS present (namespace, owner, renewed_at) VALUES (?, ?, ?)
     ON CONFLICT (namespace) DO UPDATE SET owner = excluded.owner, renewed_at = excluded.renewed_at
     WHERE present.owner = excluded.owner OR abs(excluded.renewed_at - present.renewed_at) >= ${LOCK_LIFETIME_MS}`,
    [namespace, owner, now],
  );
  return affected > 0;
}

export async function unlockNamespace(connection: SchemaConnection, namespace: string, owner: string): Promise<void> {
  await connection.run('DELETE FROM _locks WHERE namespace = ? AND owner = ?', [namespace, owner]);
}
