import type { SchemaDialect } from '#engine/sql/schema/connection.ts';
import { MYSQL_DIALECT } from '../dialect.ts';
import { tableOptions } from './ddl.ts';
import { columnType, type Flavour } from './types.ts';

export function schemaDialect(flavour: Flavour): SchemaDialect {
  return {
    quoted: (name) => MYSQL_DIALECT.quoted(name),
    placeholder: (position) => MYSQL_DIALECT.placeholder(position),
    toParam: (column, value) => MYSQL_DIALECT.toParam(column, value),
    typed: (column, place) => MYSQL_DIALECT.typed(column, place),
    typeSql: (column) => columnType(column, flavour),
    hiddenIdType: 'BIGINT',
    takenSql: 'SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?',
    cutSql: (expression, scale) => `TRUNCATE(${expression}, ${scale})`,
    tableOptions: ` ${tableOptions(flavour)}`,
    returnsIds: false,
  };
}
