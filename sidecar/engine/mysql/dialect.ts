import type { Column, ColumnType } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import type { Value } from '#protocol/values.ts';
import { reservedColumns } from '../model/physical-names.ts';
import type { FindQuery, TableTarget } from '../rows.ts';
import type { SqlDialect, SqlParams } from '../sql/dialect.ts';
import { encoderOf, type OwnEncoders } from '../sql/encoder.ts';
import { type CompiledFind, columnNamed, type ReadCompiler } from '../sql/read.ts';
import type { SqlParam } from '../sql/session.ts';
import type { Flavour } from './schema/types.ts';

/** The protocol counts parameters in 16 bits. What is left serves the rest of the statement. */
const MAX_LISTED_PARAMS = 50_000;
/** Digits of DECIMAL: sums of what columns hold and amounts that `parseAmount` gives stay below. */
const MAX_DIGITS = 65;
/** More than every column and amount has before the point. */
const AMOUNT_DIGITS = 3;

export const MYSQL_DIALECT: SqlDialect = {
  quoted,
  streamsRows: true,
  confirmRowSql: '',
  placeholder: () => '?',
  toParam,
  typed: (column, place) =>
    column.type === 'json' || isText(column) ? `CONVERT(${place} USING utf8mb4)` : cast(column, place),
  compared,
  readSql: (column) => quoted(column.name),
  encoder: (column) => encoderOf(column, OWN_ENCODERS),
  byteLengthSql: (name) => `OCTET_LENGTH(${name})`,
  listSql,
  /** By the collation of the column, which is that of bytes. */
  containsSql: ({ column, value }, params) => `LOCATE(${params.add(value)}, ${quoted(column.name)}) > 0`,
  /** The server itself sorts NULL first ascending. */
  orderSql: ({ name }, dir) => `${quoted(name)} ${dir === 'asc' ? 'ASC' : 'DESC'}`,
  sumSql,
  extremeSql: (fn, column) => `${fn}(${quoted(column.name)})`,
  incSql,
};

/** Integers are bigint and numbers doubles: the driver tells the server the type of each (`connection.ts`). */
function toParam(column: Column, value: Value): SqlParam {
  if (value === null) return null;
  switch (column.type) {
    case 'int32':
      return BigInt(value as number);
    case 'datetime':
      return String(value).slice(0, -1).replace('T', ' ');
    default:
      return value;
  }
}

/** Beside a column: numbers, text and bytes say their type themselves, and text takes the collation of the column. */
function compared(column: Column, place: string): string {
  switch (column.type) {
    case 'decimal':
    case 'datetime':
    case 'date':
    case 'uuid':
      return cast(column, place);
    default:
      return place;
  }
}

function isText(column: Column): boolean {
  return column.type === 'string' || column.type === 'text';
}

function cast(column: Column, place: string): string {
  const { type } = column;
  switch (type) {
    case 'int32':
    case 'int64':
    case 'bool':
      return `CAST(${place} AS SIGNED)`;
    case 'decimal':
      return `CAST(${place} AS DECIMAL(${decimalPrecision(column)},${decimalScale(column)}))`;
    case 'float64':
      return `CAST(${place} AS DOUBLE)`;
    case 'datetime':
      return `CAST(${place} AS DATETIME(3))`;
    case 'date':
      return `CAST(${place} AS DATE)`;
    case 'uuid':
      return `CONVERT(${place} USING ascii)`;
    case 'bytes':
      return `CAST(${place} AS BINARY)`;
    case 'string':
    case 'text':
    case 'json':
      return place;
    default:
      return type satisfies never;
  }
}

/** Filled up to a power of two with its last value, so that few statements serve all lengths. */
function listSql({ column, negated, values }: Filter & { readonly kind: 'in' }, params: SqlParams): string {
  const places = 2 ** Math.ceil(Math.log2(values.length));
  const isLiteral = params.values.length + places > MAX_LISTED_PARAMS;
  const list = isLiteral
    ? values.map((value) => compared(column, literalSql(toParam(column, value))))
    : Array.from({ length: places }, (_, place) =>
        params.value(column, values[Math.min(place, values.length - 1)] as Value),
      );
  return `${quoted(column.name)} ${negated ? 'NOT IN' : 'IN'} (${list.join(', ')})`;
}

/** Sums of integers are made in DECIMAL, where none overflows; strict mode refuses what the column does not hold. */
function incSql(column: Column, amount: Value, params: SqlParams): string {
  const current = `IFNULL(${quoted(column.name)}, 0)`;
  switch (column.type) {
    case 'float64':
      return `${current} + ${params.add(Number(amount))}`;
    case 'decimal': {
      const digits = decimalPrecision(column) + AMOUNT_DIGITS;
      return `${current} + CAST(${params.add(String(amount))} AS DECIMAL(${digits},${decimalScale(column)}))`;
    }
    default:
      return `${current} + CAST(${params.add(String(amount))} AS DECIMAL(${MAX_DIGITS},0))`;
  }
}

/** Above it a sum may pass what a double holds. */
const LARGE_DOUBLE = '1e290';

/**
 * The sum of integers and decimals is a DECIMAL. A sum of doubles that overflows, also on its way, is 0 to the server:
 * large ones are made 2^60 times smaller, and the product fails.
 */
function sumSql({ name, type }: Column): string {
  const value = quoted(name);
  if (type !== 'float64') return `SUM(${value})`;
  const small = `SUM(${value} * ${2 ** -60}) * ${2 ** 60}e0`;
  return `IF(MAX(ABS(${value})) < ${LARGE_DOUBLE}, SUM(${value}), ${small})`;
}

const OWN_ENCODERS: OwnEncoders = {
  float64: String,
  bool: (value) => (value === 0 ? 'false' : 'true'),
  bytes: (value) => `"${(value as Buffer).toString('base64')}"`,
};

/** Number of sort columns whose values the server's usual sort would compare only by their beginning. */
function longSortColumns({ table }: TableTarget, { sort }: FindQuery): number {
  return sort.filter(({ column }) => LONG_TYPES.has(columnNamed(table, column).type)).length;
}

const LONG_TYPES: ReadonlySet<ColumnType> = new Set(['text', 'bytes']);

export function compileFind(
  reads: ReadCompiler,
  target: TableTarget,
  query: FindQuery,
  flavour: Flavour,
): CompiledFind {
  const longColumns = longSortColumns(target, query);
  if (longColumns === 0) return reads.find(target, query);
  const compiled = reads.find(target, { ...query, limit: Math.max(query.limit, LONG_SORT_ROWS) });
  return { ...compiled, sql: longSortSql(compiled.sql, longColumns, flavour) };
}

/**
 * A sort by `text` or `bytes` of any length. Sort keys are as long as `max_sort_length` says, and the server refuses a
 * buffer that does not hold fifteen of them. Only for statements that ask for `LONG_SORT_ROWS` rows at least: with fewer
 * it would keep the first ones in a heap of keys of full length, which takes it a millisecond for every row of the table.
 */
function longSortSql(sql: string, longColumns: number, flavour: Flavour): string {
  const bufferBytes = longColumns * LONG_KEY_BYTES * LONG_KEYS;
  if (flavour === 'mariadb') {
    return `SET STATEMENT max_sort_length = ${LONG_KEY_BYTES}, sort_buffer_size = ${bufferBytes} FOR ${sql}`;
  }
  const hint = `/*+ SET_VAR(max_sort_length = ${LONG_KEY_BYTES}) SET_VAR(sort_buffer_size = ${bufferBytes}) */`;
  return sql.replace('(SELECT ', `(SELECT ${hint} `);
}

/** A million characters of four bytes, and the bytes that the server adds. */
const LONG_KEY_BYTES = 4 * 1024 * 1024;
const LONG_KEYS = 16;
const LONG_SORT_ROWS = 64;

/**
 * A value in the text of a statement, for lists that have no parameters left. A text never appears there as it is:
 * its bytes are written in hexadecimal digits.
 */
export function literalSql(param: SqlParam): string {
  switch (typeof param) {
    case 'bigint':
    case 'boolean':
      return String(param);
    case 'number':
      // With an exponent it is a double, and otherwise a decimal.
      return /e/.test(String(param)) ? String(param) : `${param}e0`;
    case 'string':
      return `_utf8mb4 X'${Buffer.from(param, 'utf8').toString('hex')}'`;
    default:
      return param === null ? 'NULL' : `X'${Buffer.from(param).toString('hex')}'`;
  }
}

/** InnoDB has these columns in every table, the last one for a full-text index. */
export const COLUMNS = reservedColumns(['db_roll_ptr', 'db_row_id', 'db_trx_id', 'fts_doc_id']);

/** Name of a table, column or index. Only for names that passed the naming rule, or that are made of such. */
export function quoted(name: string): string {
  return `\`${COLUMNS.physical(name)}\``;
}
