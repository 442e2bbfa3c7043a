import { LOCK_LIFETIME_MS } from '#engine/schema-calls.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';

/**
 * Takes or renews the lock of a namespace; false where another owner holds it. `now` in epoch milliseconds. A time of
 * renewal that lies far ahead comes from a clock that was wrong, and does not hold.
 */
export async function lockNamespace(
  connection: SchemaConnection,
  namespace: string,
  owner: string,
  now: number,
): Promise<boolean> {
  const insert = 'INSERT IGNORE INTO _locks (namespace, owner, renewed_at) VALUES (?, ?, ?)';
  if ((await connection.run(insert, [namespace, owner, now])) > 0) return true;
  await connection.run(
    `UPDATE _locks SET owner = ?, renewed_at = ?
     WHERE namespace = ? AND (owner = ? OR ABS(renewed_at - ?) >= ${LOCK_LIFETIME_MS})`,
    [owner, now, namespace, owner, now],
  );
  const [row] = await connection.rows('SELECT owner FROM _locks WHERE namespace = ?', [namespace]);
  return row?.[0] === owner;
}

export async function unlockNamespace(connection: SchemaConnection, namespace: string, owner: string): Promise<void> {
  await connection.run('DELETE FROM _locks WHERE namespace = ? AND owner = ?', [namespace, owner]);
}
