import { identityOf } from '#engine/model/physical-indexes.ts';
import { physicalGenerator, physicalTable } from '#engine/model/physical-names.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { rememberedLastId } from '#engine/sql/schema/generators.ts';
import type { Column, Table } from '#protocol/schema.ts';
import { generatedColumn, identitySql, typeSql } from './ddl.ts';

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

/** Change of the generated column of a table, also of a hidden one. */
export interface GeneratorChange {
  readonly kind: 'stays' | 'new' | 'retyped';
  /** The generated column of the declared table. */
  readonly column: Column;
  /** Highest id so far. */
  readonly last: bigint;
}

/** Null if the declared table generates nothing. */
export async function generatorChange(
  connection: SchemaConnection,
  namespace: string,
  { from, to, sources }: TableTransition,
): Promise<GeneratorChange | null> {
  const column = generatedColumn(to);
  if (column === null) return null;
  const isHidden = to.primaryKey === undefined;
  const isCarried = isHidden ? from.primaryKey === undefined : sources.has(column.name);
  if (!isCarried) {
    // Hidden ids are never visible, so no id is stored for them.
    return { kind: 'new', column, last: isHidden ? 0n : await rememberedLastId(connection, namespace, to.name) };
  }
  const isSameType = generatedColumn(from)?.type === column.type;
  const last = await lastId(connection, physicalTable(namespace, to.name));
  return { kind: isSameType ? 'stays' : 'retyped', column, last };
}

/** Removes the generator, which would keep the column from changing its name or type; the column stays. */
export async function dropGenerator(connection: SchemaConnection, physical: string, from: Table): Promise<void> {
  const before = generatedColumn(from);
  if (before === null) return;
  const column = connection.quoted(before.name);
  await connection.run(`ALTER TABLE ${connection.quoted(physical)} ALTER COLUMN ${column} DROP IDENTITY`);
}

/** Adds a generated column: rows are numbered in their order so far. */
export async function addNumbers(
  connection: SchemaConnection,
  physical: string,
  from: Table,
  { column, last }: GeneratorChange,
): Promise<void> {
  const table = connection.quoted(physical);
  const name = connection.quoted(column.name);
  await connection.run(`ALTER TABLE ${table} ADD COLUMN ${name} ${typeSql(column)}`);
  const identity = connection.list(identityOf(from));
  const same = identityOf(from).map(
    (part) => `present.${connection.quoted(part)} = numbered.${connection.quoted(part)}`,
  );
  // No declared column can be named `_position`.
  await connection.run(
    `UPDATE ${table} AS present SET ${name} = CAST(? AS bigint) + numbered._position
     FROM (SELECT ${identity}, row_number() OVER (ORDER BY ${identity}) AS _position FROM ${table}) AS numbered
     WHERE ${same.join(' AND ')}`,
    [last],
  );
  await connection.run(`ALTER TABLE ${table} ALTER COLUMN ${name} SET NOT NULL`);
}

/** To be called when the column has its declared form. */
export async function makeGenerator(
  connection: SchemaConnection,
  physical: string,
  { column, last }: GeneratorChange,
): Promise<void> {
  const name = connection.quoted(column.name);
  const table = connection.quoted(physical);
  await connection.run(`ALTER TABLE ${table} ALTER COLUMN ${name} ADD ${identitySql(physical)}`);
  const [row] = await connection.rows(`SELECT max(${name}) FROM ${table}`);
  const greatest = BigInt(String(row?.[0] ?? 0));
  await raiseLastId(connection, physical, greatest > last ? greatest : last);
}
