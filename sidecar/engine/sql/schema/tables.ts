import { keptOf, textOfKept, textOfKeptTable } from '#engine/model/kept.ts';
import { hasGenerator, physicalIndexes } from '#engine/model/physical-indexes.ts';
import { physicalTable } from '#engine/model/physical-names.ts';
import {
  createIndexSql,
  createTableSql,
  dropIndexSql,
  dropTableSql,
  renameTableSql,
} from '#engine/postgres/schema/ddl.ts';
import { raiseLastId, rememberGenerator } from '#engine/postgres/schema/generators.ts';
import type { SchemaConnection } from '#engine/sql/schema/connection.ts';
import { rememberedLastId } from '#engine/sql/schema/generators.ts';
import { copyKeptSql, createKeptSql } from '#engine/sql/schema/keep.ts';
import { detachColumns, register } from '#engine/sql/schema/quarantine.ts';
import type { Column, Table } from '#protocol/schema.ts';

export async function createTable(connection: SchemaConnection, namespace: string, table: Table): Promise<void> {
  const physical = physicalTable(namespace, table.name);
  await connection.run(createTableSql(physical, table));
  await raiseRemembered(connection, namespace, table);
  await makeIndexes(connection, physical, table);
}

export async function dropTable(connection: SchemaConnection, namespace: string, table: Table): Promise<void> {
  await rememberGenerator(connection, namespace, table);
  await connection.run(dropTableSql(physicalTable(namespace, table.name)));
  await detachColumns(connection, namespace, table.name);
}

/** A generator goes on where one of that name stopped. */
export async function raiseRemembered(connection: SchemaConnection, namespace: string, table: Table): Promise<void> {
  if (!hasGenerator(table)) return;
  const last = await rememberedLastId(connection, namespace, table.name);
  await raiseLastId(connection, physicalTable(namespace, table.name), last);
}

export async function makeIndexes(connection: SchemaConnection, physical: string, table: Table): Promise<void> {
  for (const index of physicalIndexes(physical, table)) await connection.run(createIndexSql(physical, table, index));
}

/** Takes a table out of the schema with its rows and its generator; its indexes can be made again. */
export async function keepTable(
  connection: SchemaConnection,
  namespace: string,
  table: Table,
  now: number,
  part?: string,
): Promise<void> {
  const physical = physicalTable(namespace, table.name);
  await rememberGenerator(connection, namespace, table);
  for (const { name } of physicalIndexes(physical, table)) await connection.run(dropIndexSql(name));
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
  connection: SchemaConnection,
  namespace: string,
  table: Table,
  column: Column,
  now: number,
  part?: string,
): Promise<void> {
  const physical = physicalTable(namespace, table.name);
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

/** With its key and its generator. */
export async function renameTable(connection: SchemaConnection, table: Table, from: string, to: string): Promise<void> {
  for (const statement of renameTableSql(table, from, to)) await connection.run(statement);
}
