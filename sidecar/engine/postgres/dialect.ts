import type { Column, ColumnType } from '#protocol/columns.ts';
import { reservedColumns } from '../model/physical-names.ts';
import type { SqlDialect } from '../sql/dialect.ts';
import { encoderOf, type OwnEncoders } from '../sql/encoder.ts';
import type { SqlParam } from '../sql/session.ts';

/** Types in casts of parameters: without length or precision, so that nothing is cut or rounded. */
const PARAM_TYPES = {
  int32: 'int4',
  int64: 'int8',
  decimal: 'numeric',
  float64: 'float8',
  bool: 'bool',
  string: 'text',
  text: 'text',
  json: 'text',
  datetime: 'timestamp',
  date: 'date',
  uuid: 'uuid',
  bytes: 'bytea',
} as const satisfies Record<ColumnType, string>;

export function paramType(column: Column): string {
  return PARAM_TYPES[column.type];
}

/**
 * An index scan runs once for each combination of its lists, and cannot be cancelled meanwhile. The planner avoids that as
 * long as its estimate is a number: 1000 ** 103 combinations are more than a double holds.
 */
const MAX_INDEXED_LISTS = 64;

/** Values and results travel as text: the server's own, in the form that the session is set up for. */
export const POSTGRES_DIALECT: SqlDialect = {
  quoted,
  streamsRows: false,
  confirmRowSql: ' FOR UPDATE',
  placeholder: (position) => `$${position}`,
  toParam: (_column, value) => value,
  typed: (column, place) => `${place}::${paramType(column)}`,
  compared: (column, place) => `${place}::${paramType(column)}`,
  readSql: (column) => quoted(column.name),
  encoder: (column) => encoderOf(column, OWN_ENCODERS),
  byteLengthSql: (name) => `octet_length(${name})`,

  listSql({ column, negated, values }, params) {
    const list = `${params.add(arrayLiteral(values))}::${paramType(column)}[]`;
    const name = quoted(column.name);
    const compared = params.lists > MAX_INDEXED_LISTS ? `COALESCE(${name}, ${name})` : name;
    return `${compared} ${negated ? '<> ALL' : '= ANY'} (${list})`;
  },

  containsSql({ column, value }, params) {
    const name = quoted(column.name);
    if (value.length <= MAX_STRPOS_LENGTH) return `strpos(${name}, ${params.add(value)}::text) > 0`;
    return `${name} ~ ${params.add(LITERALLY + value)}::text`;
  },

  /** Indexes are made the same way, so that they serve both directions. */
  orderSql({ name, nullable }, dir) {
    if (dir === 'asc') return `${quoted(name)} ASC${nullable ? ' NULLS FIRST' : ''}`;
    return `${quoted(name)} DESC${nullable ? ' NULLS LAST' : ''}`;
  },

  /** The sum of integers and decimals is numeric. */
  sumSql: ({ name }) => `sum(${quoted(name)})`,

  extremeSql(fn, { name, type }) {
    const value = quoted(name);
    // The server compares them, and has no aggregate of them.
    if (type === 'bool') return `${fn === 'min' ? 'bool_and' : 'bool_or'}(${value})`;
    return type === 'uuid' ? `${fn}(${value}::text COLLATE "C")` : `${fn}(${value})`;
  },

  /** Through numeric, in which no sum of ours overflows; the cast back refuses what does not fit (22003). */
  incSql(column, amount, params) {
    const current = `COALESCE(${quoted(column.name)}, 0)`;
    if (column.type === 'float64') return `${current} + ${params.typed(column, amount)}`;
    const sum = `${current} + ${params.add(String(amount))}::numeric`;
    return column.type === 'decimal' ? sum : `(${sum})::${paramType(column)}`;
  },
};

/** `strpos` takes time by length of text times length of part, and no cancel ends it before. */
const MAX_STRPOS_LENGTH = 64;
/** The rest of a regular expression is plain text. It takes time by length of text alone; `MAX_FILTER_TEXT_LENGTH` bounds the part. */
const LITERALLY = '***=';

const OWN_ENCODERS: OwnEncoders = {
  // The same digits as on every engine: 1e+21 and not 1000000000000000000000.
  float64: (value) => String(Number(value)),
  bool: (value) => (value === 't' ? 'true' : 'false'),
  bytes: (value) => `"${Buffer.from(String(value).slice(2), 'hex').toString('base64')}"`,
};

const NEEDS_ESCAPE = /["\\]/g;

/**
 * Values as the text of a one-dimensional array, so that one parameter carries a whole column. Only for types
 * that the server reads from text; a Uint8Array is written in hex.
 */
export function arrayLiteral(values: readonly SqlParam[]): string {
  let text = '{';
  for (let position = 0; position < values.length; position++) {
    if (position > 0) text += ',';
    text += element(values[position] as SqlParam);
  }
  return `${text}}`;
}

function element(value: SqlParam): string {
  if (value === null) return 'NULL';
  switch (typeof value) {
    case 'string':
      return `"${value.replace(NEEDS_ESCAPE, '\\$&')}"`;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`;
  }
}

/** Every table has these columns, whatever it declares. `oid` was one of them before PostgreSQL 12. */
export const COLUMNS = reservedColumns(['cmax', 'cmin', 'ctid', 'tableoid', 'xmax', 'xmin']);

/** Name of a table, column, index or generator. Only for names that passed the naming rule, or that are made of such. */
export function quoted(name: string): string {
  return `"${COLUMNS.physical(name)}"`;
}
