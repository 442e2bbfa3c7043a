import { physicalGenerator } from '#engine/model/physical-names.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';

/** The highest id that the table's generator ever gave, 0 for none. */
export async function lastId(connection: SchemaConnection, physical: string): Promise<bigint> {
  const generator = connection.quoted(physicalGenerator(physical));
  const [row] = await connection.rows(`SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM ${generator}`);
  return BigInt(String(row?.[0] ?? 0));
}

/**
 * Never lowers the id, and never raises it past the end of the generator. Not undone with the transaction, which at worst
 * leaves a gap.
 */
export async function raiseLastId(connection: SchemaConnection, physical: string, last: bigint): Promise<void> {
  if (last <= (await lastId(connection, physical))) return;
  await connection.rows(
    `SELECT setval(seqrelid::regclass, least(CAST(? AS bigint), seqmax)) FROM pg_sequence
     WHERE seqrelid = CAST(quote_ident(?) AS regclass)`,
    [last, physicalGenerator(physical)],
  );
}
