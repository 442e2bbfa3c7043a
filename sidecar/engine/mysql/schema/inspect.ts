import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { INT64_MAX } from '#protocol/limits.ts';
import { COLUMNS, quoted } from '../dialect.ts';

/**
 * Comments of the tables that exist, by name; a comment names the change that made the table. One query for each table,
 * because MariaDB opens every table of the database for a query about several.
 */
export async function tableMarks(connection: SchemaConnection, names: readonly string[]): Promise<Map<string, string>> {
  const sql = 'SELECT table_comment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?';
  const marks = new Map<string, string>();
  for (const name of names) {
    const [row] = await connection.kept(sql, [name]);
    if (row !== undefined) marks.set(name, String(row[0]));
  }
  return marks;
}

/** Columns of a table, by their declared names. */
export async function columnNames(connection: SchemaConnection, physical: string): Promise<Set<string>> {
  const sql = 'SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?';
  return new Set((await connection.rows(sql, [physical])).map(([name]) => COLUMNS.declared(String(name))));
}

export async function indexNames(connection: SchemaConnection, physical: string): Promise<Set<string>> {
  const sql = 'SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?';
  return new Set((await connection.rows(sql, [physical])).map(([name]) => String(name)));
}

/**
 * Id that the table will generate next. `SHOW CREATE TABLE` asks the table itself; MySQL caches the answer of
 * information_schema for a day.
 */
export async function nextId(connection: SchemaConnection, physical: string): Promise<bigint> {
  const [row] = await connection.rows(`SHOW CREATE TABLE ${quoted(physical)}`);
  const options = String(row?.[1]).split('\n').at(-1) ?? '';
  const [, next] = /^\) ENGINE=\w+ AUTO_INCREMENT=(\d+) /.exec(options) ?? [];
  return BigInt(next ?? 1);
}

/**
 * Clause of `ALTER TABLE` after which every node of a cluster generates `first`, this node's next id, or a later one. Each node
 * has a counter of its own, so a counter that is far enough on this node says nothing about the others.
 */
export async function beginAtClause(connection: SchemaConnection, physical: string, first: bigint): Promise<string> {
  const next = await nextId(connection, physical);
  return `AUTO_INCREMENT=${next > first ? next : first}`;
}

/** Highest id that the table may have generated; 0 for none. */
export async function lastId(connection: SchemaConnection, physical: string): Promise<bigint> {
  const last = (await nextId(connection, physical)) - 1n;
  return last < INT64_MAX ? last : INT64_MAX;
}

export async function isEmpty(connection: SchemaConnection, physical: string): Promise<boolean> {
  return (await connection.rows(`SELECT 1 FROM ${quoted(physical)} LIMIT 1`)).length === 0;
}

export function countRows(connection: SchemaConnection, physical: string): Promise<number> {
  return connection.number(`SELECT count(*) FROM ${quoted(physical)}`);
}
