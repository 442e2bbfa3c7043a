import { keptOf, textOfKept, textOfKeptTable } from '#engine/model/kept.ts';
import { hasGenerator, physicalIndexes } from '#engine/model/physical-indexes.ts';
import type { Column, Table } from '#protocol/schema.ts';
import type { ChangeConnection, SchemaConnection } from './connection.ts';
import { rememberedLastId, rememberLastId } from './generators.ts';
import { copyKeptSql, createKeptSql } from './keep.ts';
import { detachColumns, register } from './quarantine.ts';

export async function createTable(connection: ChangeConnection, namespace: string, table: Table): Promise<void> {
  const physical = connection.physicalTable(namespace, table.name);
  await connection.run(connection.dialect.createTableSql(physical, table));
  await raiseRemembered(connection, namespace, table);
  await makeIndexes(connection, physical, table);
}

export async function dropTable(connection: ChangeConnection, namespace: string, table: Table): Promise<void> {
  await rememberGenerator(connection, namespace, table);
  await connection.run(`DROP TABLE ${connection.quoted(connection.physicalTable(namespace, table.name))}`);
  await detachColumns(connection, namespace, table.name);
}

/** Before a table's name becomes free. */
export async function rememberGenerator(connection: ChangeConnection, namespace: string, table: Table): Promise<void> {
  if (!hasGenerator(table)) return;
  const last = await connection.dialect.lastId(connection, connection.physicalTable(namespace, table.name));
  await rememberLastId(connection, namespace, table.name, last);
}

/** A generator goes on from the last id that was given under its table's name. */
export async function raiseRemembered(connection: ChangeConnection, namespace: string, table: Table): Promise<void> {
  if (!hasGenerator(table)) return;
  const last = await rememberedLastId(connection, namespace, table.name);
  await connection.dialect.raiseLastId(connection, connection.physicalTable(namespace, table.name), last);
}

export async function makeIndexes(connection: ChangeConnection, physical: string, table: Table): Promise<void> {
  const { dialect } = connection;
  for (const index of physicalIndexes(physical, table)) {
    await connection.run(dialect.createIndexSql(physical, table, index));
  }
}

/** An owner may have removed one by hand. */
export async function dropIndex(connection: SchemaConnection, name: string): Promise<void> {
  await connection.run(`DROP INDEX IF EXISTS ${connection.quoted(name)}`);
}

/** With its key and its generator. */
export async function renameTable(connection: ChangeConnection, table: Table, from: string, to: string): Promise<void> {
  for (const statement of connection.dialect.renameTableSql(table, from, to)) await connection.run(statement);
}

/** Takes a table out of the schema with its rows and its generator; its indexes can be made again. */
export async function keepTable(
  connection: ChangeConnection,
  namespace: string,
  table: Table,
  now: number,
  part?: string,
): Promise<void> {
  const physical = connection.physicalTable(namespace, table.name);
  await rememberGenerator(connection, namespace, table);
  for (const { name } of physicalIndexes(physical, table)) await dropIndex(connection, name);
  const rows = await connection.number(`SELECT count(*) FROM ${connection.quoted(physical)}`);
  const definition = textOfKeptTable(table, part);
  const quarantinedAt = new Date(now).toISOString();
  const about = { namespace, table: table.name, column: null, definition, rows, quarantinedAt };
  const kept = await register(connection, about);
  await renameTable(connection, table, physical, kept.physical);
  await detachColumns(connection, namespace, table.name, kept.id);
}

/** Copies what a column holds, with the identity of its rows. The caller then drops the column itself. */
export async function keepColumn(
  connection: ChangeConnection,
  namespace: string,
  table: Table,
  column: Column,
  now: number,
  part?: string,
): Promise<void> {
  const physical = connection.physicalTable(namespace, table.name);
  const count = `SELECT count(${connection.quoted(column.name)}) FROM ${connection.quoted(physical)}`;
  const definition = keptOf(table, column, part);
  const kept = await register(connection, {
    namespace,
    table: table.name,
    column: column.name,
    definition: textOfKept(definition),
    rows: await connection.number(count),
    quarantinedAt: new Date(now).toISOString(),
  });
  await connection.run(createKeptSql(connection, kept.physical, definition));
  await connection.run(copyKeptSql(connection, kept.physical, physical, table, column));
}
