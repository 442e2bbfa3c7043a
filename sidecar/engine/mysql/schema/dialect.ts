import { physicalTable } from '#engine/model/physical-names.ts';
import { outOfRangeSql } from '#engine/sql/schema/checks.ts';
import type { SchemaDialect } from '#engine/sql/schema/connection.ts';
import { MYSQL_DIALECT, quoted } from '../dialect.ts';
import { tableOptions } from './ddl.ts';
import { tableMarks } from './inspect.ts';
import { columnType, type Flavour } from './types.ts';

export function schemaDialect(flavour: Flavour): SchemaDialect {
  return {
    quoted,
    placeholder: (position) => MYSQL_DIALECT.placeholder(position),
    toParam: (column, value) => MYSQL_DIALECT.toParam(column, value),
    typed: (column, place) => MYSQL_DIALECT.typed(column, place),
    physicalTable,
    typeSql: (column) => columnType(column, flavour),
    hiddenIdType: 'BIGINT',
    guardSql: '',
    misfitSql: (from, to) =>
      outOfRangeSql(quoted(from.name), to, (expression, scale) => `TRUNCATE(${expression}, ${scale})`),
    takenNames: async (connection, names) => new Set((await tableMarks(connection, names)).keys()),
    lockRowsSql: ' FOR UPDATE',
    nowMsSql: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
    keepSql: (key = '') => `ON DUPLICATE KEY UPDATE ${quoted(key)} = ${quoted(key)}`,
    tableOptions: ` ${tableOptions(flavour)}`,
    returnsIds: false,
  };
}
