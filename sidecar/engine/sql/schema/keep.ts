import type { KeptColumn } from '#engine/model/kept.ts';
import { identityOf } from '#engine/model/physical-indexes.ts';
import type { Column, Table } from '#protocol/schema.ts';
import type { SchemaConnection } from './connection.ts';

/** A kept column's table has the columns `k0`, `k1`, … (the key of each row, or the hidden row id) and `value`. */
export function createKeptSql({ dialect }: SchemaConnection, physical: string, { column, key }: KeptColumn): string {
  const types = key?.map((part) => dialect.typeSql(part)) ?? [dialect.hiddenIdType];
  const keys = keptKeys(types.length);
  const columns = [
    ...keys.map((name, position) => `${dialect.quoted(name)} ${types[position]} NOT NULL`),
    `${dialect.quoted('value')} ${dialect.typeSql(column)} NOT NULL`,
  ];
  const list = keys.map((name) => dialect.quoted(name)).join(', ');
  return `CREATE TABLE ${dialect.quoted(physical)} (${columns.join(', ')}, PRIMARY KEY (${list}))${dialect.tableOptions}`;
}

/** Copies what a column holds, with the identity of its rows. `source` is the physical name of its table. */
export function copyKeptSql(
  connection: SchemaConnection,
  physical: string,
  source: string,
  table: Table,
  column: Column,
): string {
  const identity = identityOf(table);
  const into = connection.list([...keptKeys(identity.length), 'value']);
  const value = connection.quoted(column.name);
  return `INSERT INTO ${connection.quoted(physical)} (${into}) SELECT ${connection.list(identity)}, ${value}
    FROM ${connection.quoted(source)} WHERE ${connection.dialect.guardSql}${value} IS NOT NULL`;
}

/** Condition that a row `kept` of a kept column belongs to a row `present` of its table. */
export function sameRowSql({ dialect }: SchemaConnection, table: Table): string {
  const matches = identityOf(table).map(
    (name, position) => `kept.${dialect.quoted(`k${position}`)} = present.${dialect.quoted(name)}`,
  );
  return matches.join(' AND ');
}

function keptKeys(count: number): string[] {
  return Array.from({ length: count }, (_, position) => `k${position}`);
}
