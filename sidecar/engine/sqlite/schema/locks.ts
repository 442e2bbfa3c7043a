import type { Database } from 'better-sqlite3';
import { LOCK_LIFETIME_MS } from '#engine/schema-calls.ts';

/**
 * Takes or renews the lock of a namespace; false where another owner holds it. `now` in epoch milliseconds. A time of
 * renewal that lies far ahead comes from a clock that was wrong, and does not hold.
 */
export function lockNamespace(db: Database, namespace: string, owner: string, now: number): boolean {
  const { changes } = db
    .prepare(
      `INSERT INTO _locks (namespace, owner, renewed_at) VALUES (@namespace, @owner, @now)
       ON CONFLICT (namespace) DO UPDATE SET owner = excluded.owner, renewed_at = excluded.renewed_at
       WHERE owner = excluded.owner OR abs(excluded.renewed_at - renewed_at) >= ${LOCK_LIFETIME_MS}`,
    )
    .run({ namespace, owner, now });
  return changes > 0;
}

export function unlockNamespace(db: Database, namespace: string, owner: string): void {
  db.prepare('DELETE FROM _locks WHERE namespace = ? AND owner = ?').run(namespace, owner);
}
