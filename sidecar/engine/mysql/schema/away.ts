import { renewLease } from '#engine/sql/cluster.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { sha256Hex } from '#protocol/canonical-json.ts';
import { quoted } from '../dialect.ts';
import type { ChangeContext } from './context.ts';

/**
 * A table is taken away before its rows are copied or rewritten: it gets a private name, so that no node of a cluster
 * writes to it meanwhile. The name holds the fencing token of the lease. A sidecar that finishes the change of another
 * renames the table again, and a late statement of the first one finds no table. The lease is checked last: a renaming that
 * comes late would take the table from all.
 */
export async function takeAway(context: ChangeContext, tables: readonly string[]): Promise<void> {
  const { connection, lease, places } = context;
  const renames: string[] = [];
  for (const physical of tables) {
    const away = `${prefixOf(physical)}${hashOf(lease.owner)}`;
    const present = await awayNames(connection, physical);
    places.set(physical, away);
    if (present.includes(away)) continue;
    renames.push(`${quoted(present[0] ?? physical)} TO ${quoted(away)}`);
  }
  await checkLease(context);
  if (renames.length > 0) await connection.run(`RENAME TABLE ${renames.join(', ')}`);
}

/** A sidecar that was frozen for long must not go on. */
export function checkLease({ connection, lease }: ChangeContext): Promise<void> {
  return lease.checkBy((row) => renewLease(connection, row));
}

/**
 * For a sidecar that has lost its lease and may have taken tables away all the same: nobody else looks for them once the change is
 * over. A table that another sidecar has taken over has another name, or its own, and is left alone.
 */
export async function putBackLate({ connection, places }: ChangeContext): Promise<void> {
  for (const [physical, away] of places) {
    const names = await awayNames(connection, physical);
    if (!names.includes(away)) continue;
    await connection.run(`RENAME TABLE ${quoted(away)} TO ${quoted(physical)}`);
  }
}

/** Gives a table that was taken away its name again, if that was as far as the change came. */
export async function putBackName({ connection, places }: ChangeContext, physical: string): Promise<void> {
  const [away] = await awayNames(connection, physical);
  if (away !== undefined) await connection.run(`RENAME TABLE ${quoted(away)} TO ${quoted(physical)}`);
  places.delete(physical);
}

/** Name that a table has now. */
export function placeOf({ places }: Pick<ChangeContext, 'places'>, physical: string): string {
  return places.get(physical) ?? physical;
}

/** Private names of a table; more than one only if a crash of a server has cut a renaming in two. */
async function awayNames(connection: SchemaConnection, physical: string): Promise<string[]> {
  const sql = `SELECT table_name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_name LIKE ? ORDER BY table_name`;
  const rows = await connection.rows(sql, [`${prefixOf(physical).replaceAll('_', '\\_')}%`]);
  return rows.map(([name]) => String(name));
}

function prefixOf(physical: string): string {
  return `_away_${hashOf(physical)}_`;
}

function hashOf(text: string): string {
  return sha256Hex(text).slice(0, 20);
}
