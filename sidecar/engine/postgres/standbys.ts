import type { SqlResult } from '../sql/session.ts';

/**
 * No row if no write waits for a standby. The state of a standby is null for an account without `pg_read_all_stats`, which
 * then sees only that one follows.
 */
const STANDBYS = `SELECT current_setting('synchronous_standby_names'),
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') OR sync_state IS NULL)
  WHERE current_setting('synchronous_standby_names') <> ''`;

/** Whether fewer standbys follow than must confirm a write, so that each write waits; false if that is not known for sure. */
export async function lacksStandby(query: (text: string) => Promise<SqlResult>): Promise<boolean> {
  const { rows } = await query(STANDBYS);
  const [names, following] = rows[0] ?? [];
  return names !== undefined && Number(following) < neededStandbys(String(names));
}

/** Standbys that must confirm a write, by a setting that is not empty: `ANY 2 (a, b, c)`, `FIRST 1 (a, b)`, `2 (a, b)`, `a, b`. */
export function neededStandbys(synchronousStandbyNames: string): number {
  const [, count] = /^\s*(?:(?:any|first)\s+)?(\d+)\s*\(/i.exec(synchronousStandbyNames) ?? [];
  return Number(count ?? 1);
}
