import { physicalTable } from '#engine/model/physical-names.ts';
import { outOfRangeSql } from '#engine/sql/schema/checks.ts';
import type { SchemaConnection, TransactionalDialect } from '#engine/sql/schema/connection.ts';
import { POSTGRES_DIALECT, quoted } from '../dialect.ts';
import { changeTable } from './alter.ts';
import { createIndexSql, createTableSql, renameTableSql, typeSql } from './ddl.ts';
import { lastId, raiseLastId } from './generators.ts';
import { lockTables, withinLimits } from './locks.ts';

export const POSTGRES_SCHEMA: TransactionalDialect = {
  quoted,
  placeholder: (position) => POSTGRES_DIALECT.placeholder(position),
  toParam: (column, value) => POSTGRES_DIALECT.toParam(column, value),
  typed: (column, place) => POSTGRES_DIALECT.typed(column, place),
  physicalTable,
  typeSql,
  hiddenIdType: 'bigint',
  guardSql: '',
  misfitSql: (from, to) =>
    outOfRangeSql(quoted(from.name), to, (expression, scale) => `trunc(${expression}::numeric, ${scale})`),
  takenNames,
  lockRowsSql: ' FOR UPDATE',
  nowMsSql: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  keepSql: (...key) => `ON CONFLICT (${key.map((name) => `"${name}"`).join(', ')}) DO NOTHING`,
  tableOptions: '',
  returnsIds: true,
  withinLimits,
  lockTables,
  createTableSql,
  renameTableSql,
  createIndexSql,
  changeTable,
  lastId,
  raiseLastId,
  randomSql: 'gen_random_uuid()',
};

async function takenNames(connection: SchemaConnection, names: readonly string[]): Promise<ReadonlySet<string>> {
  const places = names.map(() => '?').join(', ');
  const sql = `SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname IN (${places})`;
  return new Set((await connection.rows(sql, names)).map(([name]) => String(name)));
}
