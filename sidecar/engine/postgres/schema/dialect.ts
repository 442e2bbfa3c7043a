import type { SchemaDialect } from '#engine/sql/schema/connection.ts';
import type { Column } from '#protocol/columns.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { POSTGRES_DIALECT } from '../dialect.ts';

/** Contract section 6: the same least size as on the engine with the narrowest rows. */
const MIN_STRING_LENGTH = 64;

/** By bytes, whatever the database's own collation is (contract section 4). */
const BY_BYTES = 'COLLATE "C"';

export const POSTGRES_SCHEMA: SchemaDialect = {
  quoted: (name) => POSTGRES_DIALECT.quoted(name),
  placeholder: (position) => POSTGRES_DIALECT.placeholder(position),
  toParam: (column, value) => POSTGRES_DIALECT.toParam(column, value),
  typed: (column, place) => POSTGRES_DIALECT.typed(column, place),
  typeSql,
  hiddenIdType: 'bigint',
  cutSql: (expression, scale) => `trunc(${expression}::numeric, ${scale})`,
  takenSql: 'SELECT 1 FROM pg_class WHERE relname = ? AND relnamespace = current_schema()::regnamespace',
  tableOptions: '',
  returnsIds: true,
};

function typeSql(column: Column): string {
  const { type } = column;
  switch (type) {
    case 'int32':
      return 'integer';
    case 'int64':
      return 'bigint';
    case 'decimal':
      return `numeric(${decimalPrecision(column)},${decimalScale(column)})`;
    case 'float64':
      return 'double precision';
    case 'bool':
      return 'boolean';
    case 'string':
      return `varchar(${Math.max(MIN_STRING_LENGTH, column.length ?? 0)}) ${BY_BYTES}`;
    case 'text':
    case 'json':
      return `text ${BY_BYTES}`;
    case 'datetime':
      return 'timestamp(3) without time zone';
    case 'date':
      return 'date';
    case 'uuid':
      return 'uuid';
    case 'bytes':
      return 'bytea';
    default:
      return type satisfies never;
  }
}
