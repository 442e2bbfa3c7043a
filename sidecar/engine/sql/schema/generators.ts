import type { SchemaConnection } from './connection.ts';

/**
 * Ids are never generated twice (contract section 5). While a table exists its own generator holds the highest id; when the
 * name becomes free, `_generators` stores the id for a later table of that name. The namespace's lock, or its row of
 * `_schemas`, excludes other writers.
 */
export async function rememberLastId(
  connection: SchemaConnection,
  namespace: string,
  table: string,
  last: bigint,
): Promise<void> {
  const remembered = await remembering(connection, namespace, table);
  if (remembered === null) {
    const insert = 'INSERT INTO _generators (last_id, namespace, table_name) VALUES (?, ?, ?)';
    await connection.run(insert, [last, namespace, table]);
  } else if (remembered < last) {
    const update = 'UPDATE _generators SET last_id = ? WHERE namespace = ? AND table_name = ?';
    await connection.run(update, [last, namespace, table]);
  }
}

/** 0 if no id is stored. */
export async function rememberedLastId(
  connection: SchemaConnection,
  namespace: string,
  table: string,
): Promise<bigint> {
  return (await remembering(connection, namespace, table)) ?? 0n;
}

async function remembering(connection: SchemaConnection, namespace: string, table: string): Promise<bigint | null> {
  const sql = 'SELECT last_id FROM _generators WHERE namespace = ? AND table_name = ?';
  const [row] = await connection.rows(sql, [namespace, table]);
  return row === undefined ? null : BigInt(String(row[0]));
}

/** Stored ids of a namespace, by table name. */
export async function rememberedLastIds(connection: SchemaConnection, namespace: string): Promise<Map<string, bigint>> {
  const sql = 'SELECT table_name, last_id FROM _generators WHERE namespace = ? ORDER BY table_name';
  const rows = await connection.rows(sql, [namespace]);
  return new Map(rows.map(([table, last]) => [String(table), BigInt(String(last))]));
}
