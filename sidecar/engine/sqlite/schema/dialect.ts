import type { SchemaConnection, TransactionalDialect } from '#engine/sql/schema/connection.ts';
import { NOW_MS_SQL, numberText, physicalTable, quoted, sqlType, toPhysical } from '../dialect.ts';
import { changeTable } from './alter.ts';
import { createIndexSql, createTableSql, renameTableSql } from './ddl.ts';

/** A change holds the whole database (`BEGIN IMMEDIATE`), so it needs no locks on tables or rows. */
export const SQLITE_SCHEMA: TransactionalDialect = {
  quoted,
  placeholder: () => '?',
  toParam: toPhysical,
  typed: (_column, place) => place,
  physicalTable,
  typeSql: sqlType,
  hiddenIdType: 'INTEGER',
  guardSql: 'guard() AND ',
  misfitSql(from, to) {
    const column = quoted(from.name);
    if (to.type === 'string') return `length(${column}) > ${Number(to.length)}`;
    return `fits_number(${column}, '${numberText(from)}', '${numberText(to)}') = 0`;
  },
  takenNames: null,
  lockRowsSql: '',
  nowMsSql: NOW_MS_SQL,
  keepSql: (...key) => `ON CONFLICT (${key.map((name) => `"${name}"`).join(', ')}) DO NOTHING`,
  tableOptions: ' STRICT',
  returnsIds: true,
  withinLimits: (_connection, _namespace, work) => work(),
  lockTables: async () => {},
  createTableSql,
  renameTableSql: (_table, from, to) => [renameTableSql(from, to)],
  createIndexSql: (physical, _table, index) => createIndexSql(physical, index),
  changeTable,
  lastId,
  raiseLastId,
  randomSql: 'random_uuid()',
};

/** Without a row the generator begins at 1; SQLite itself makes one with the first id. */
async function lastId(connection: SchemaConnection, physical: string): Promise<bigint> {
  const [row] = await connection.rows('SELECT seq FROM sqlite_sequence WHERE name = ?', [physical]);
  return BigInt(String(row?.[0] ?? 0));
}

async function raiseLastId(connection: SchemaConnection, physical: string, last: bigint): Promise<void> {
  if (last <= 0n) return;
  const update = 'UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?';
  if ((await connection.run(update, [last, physical])) > 0) return;
  await connection.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', [physical, last]);
}
