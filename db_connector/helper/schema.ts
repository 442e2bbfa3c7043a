import type { ExactNumber } from './exact-number.ts';
import type { JsonText, Scalar } from './filters.ts';
import { isPlainObject, jsonText, kindOf, objectText } from './json-text.ts';

export type ColumnTypeName =
  | 'int32'
  | 'int64'
  | 'decimal'
  | 'float64'
  | 'bool'
  | 'string'
  | 'text'
  | 'json'
  | 'datetime'
  | 'date'
  | 'uuid'
  | 'bytes';

/** What every column may say. Without any of it a column is required. */
export interface ColumnOptions {
  /** NULL is allowed. */
  readonly nullable?: boolean;
  /** Stored where a new row leaves the column out. Existing rows get it too when the column is added. */
  readonly default?: Scalar | object | null;
  /** No two rows have the same value; many NULLs may stand beside each other. Makes an index. */
  readonly unique?: boolean;
  /** The column's name until now. Keeps the data; may stay for good. */
  readonly renamedFrom?: string;
}

export interface IntegerOptions extends ColumnOptions {
  readonly default?: number | bigint | ExactNumber | null;
  /** Counts from 1 by itself, never the same number twice. The column must be the whole primary key. */
  readonly autoIncrement?: boolean;
}

export interface TextOptions extends ColumnOptions {
  readonly default?: string | null;
  /** Characters, 1 to 4000; 255 if not said. */
  readonly length?: number;
}

export interface LongTextOptions extends ColumnOptions {
  readonly default?: string | null;
}

export interface DecimalOptions extends ColumnOptions {
  readonly default?: number | bigint | string | ExactNumber | null;
  /** Digits in all, 1 to 34; 18 if not said. */
  readonly precision?: number;
  /** Digits after the point, 0 to precision; 4 if not said. More are refused, never rounded. */
  readonly scale?: number;
}

export interface DoubleOptions extends ColumnOptions {
  readonly default?: number | ExactNumber | null;
}

export interface BoolOptions extends ColumnOptions {
  readonly default?: boolean | null;
}

export interface TimeOptions extends ColumnOptions {
  /** `'now'`: the moment of the insert, by the sidecar's clock. */
  readonly default?: 'now' | (string & {}) | Date | null;
}

export interface UuidOptions extends ColumnOptions {
  /** `'random'`: a new one with each insert. */
  readonly default?: 'random' | (string & {}) | null;
}

/** All of them; for `Q.Column`. */
export interface AnyColumnOptions extends ColumnOptions {
  readonly length?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly autoIncrement?: boolean;
}

export interface ColumnDeclaration extends AnyColumnOptions {
  readonly name: string;
  readonly type: ColumnTypeName;
}

export interface IndexDeclaration {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique?: boolean;
}

export interface TableOptions {
  /** Columns whose values together name a row. Without it rows have a hidden number, in the order of insertion. */
  readonly primaryKey?: readonly string[];
  readonly indexes?: readonly (JsonText | IndexDeclaration)[];
  /** The table's name until now. Keeps the data; may stay for good. */
  readonly renamedFrom?: string;
}

export interface TableDeclaration extends TableOptions {
  readonly name: string;
  readonly columns: readonly (JsonText | ColumnDeclaration)[];
}

/** Text from `Q.Schema`, or the same as a plain object. */
export type Schema = JsonText | { readonly tables: readonly (JsonText | TableDeclaration)[] };

export interface SchemaBuilders {
  /** All tables of a namespace; for `Sync`. A list does as well as several arguments. */
  Schema(...tables: readonly (JsonText | TableDeclaration | readonly (JsonText | TableDeclaration)[])[]): JsonText;
  /** A table: `Q.Table('vehicles', [Q.Int64('id'), …], { primaryKey: ['id'], indexes: [Q.Index(…)] })`. */
  Table(name: string, columns: readonly (JsonText | ColumnDeclaration)[], options?: TableOptions): JsonText;
  /** What is filtered and sorted by in a large table wants one. */
  Index(name: string, columns: readonly string[], options?: { readonly unique?: boolean }): JsonText;
  /** Whole numbers from -2,147,483,648 to 2,147,483,647. */
  Int32(name: string, options?: IntegerOptions): JsonText;
  /** Whole numbers of 64 bits. Past 2^53 `Rows` gives a BigInt. */
  Int64(name: string, options?: IntegerOptions): JsonText;
  /** Text of at most `length` characters, 255 if not said. Compared by its bytes: case and accents count. */
  Text(name: string, options?: TextOptions): JsonText;
  /** Text of at most 1,000,000 characters; cannot stand in an index. */
  LongText(name: string, options?: LongTextOptions): JsonText;
  /** True or false. */
  Bool(name: string, options?: BoolOptions): JsonText;
  /** Exact numbers with `scale` digits after the point: money. */
  Decimal(name: string, options?: DecimalOptions): JsonText;
  /** Measurements: coordinates, fuel. Not for money. */
  Double(name: string, options?: DoubleOptions): JsonText;
  /** Anything that JSON can say; comes back as it went in. */
  Json(name: string, options?: ColumnOptions): JsonText;
  /** A moment, to the millisecond. Comes back as ISO text in UTC. */
  DateTime(name: string, options?: TimeOptions): JsonText;
  /** A day: `'2026-01-31'`. */
  Date(name: string, options?: TimeOptions): JsonText;
  /** An id such as `crypto.randomUUID()` makes. */
  Uuid(name: string, options?: UuidOptions): JsonText;
  /** Bytes, at most 1,000,000. Comes back as base64. */
  Bytes(name: string, options?: ColumnOptions): JsonText;
  /** A column of any type with any option. */
  Column(name: string, type: ColumnTypeName, options?: AnyColumnOptions): JsonText;
}

type Options = AnyColumnOptions | undefined;

/** Members of a JSON object, those that are absent left out. */
function objectOf(members: Readonly<Record<string, JsonText | undefined>>): JsonText {
  const present = Object.entries(members).filter(([, text]) => text !== undefined);
  return `{${present.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

function listOf(items: unknown, path: string, itemText: (item: unknown, path: string) => JsonText): JsonText {
  if (!Array.isArray(items)) throw new TypeError(`${path}: expected a list, got ${kindOf(items)}`);
  return `[${items.map((item, index) => itemText(item, `${path}[${index}]`)).join(',')}]`;
}

function declarationOf(builder: string, name: string, rest: object | undefined): JsonText {
  if (typeof name !== 'string') throw new TypeError(`Q.${builder}: expected a name, got ${kindOf(name)}`);
  if (rest !== undefined && !isPlainObject(rest)) {
    throw new TypeError(`Q.${builder}: ${name}: expected options as an object, got ${kindOf(rest)}`);
  }
  return jsonText({ name, ...rest }, `Q.${builder}: ${name}`);
}

const columnText = (column: unknown, path: string) => objectText(column, path, 'a column such as Q.Int32(…)');
const indexText = (index: unknown, path: string) => objectText(index, path, 'an index such as Q.Index(…)');

/** JSON text of a table, with its columns and indexes as text or objects. */
function tableText(table: unknown, path: string): JsonText {
  if (!isPlainObject(table)) return objectText(table, path, 'a table such as Q.Table(…)');
  const { columns, indexes, ...rest }: { columns?: unknown; indexes?: unknown } = table;
  const head = Object.entries(rest).map(([name, value]) => [
    name,
    value === undefined ? undefined : jsonText(value, `${path}.${name}`),
  ]);
  return objectOf({
    ...Object.fromEntries(head),
    columns: columns === undefined ? undefined : listOf(columns, `${path}.columns`, columnText),
    indexes: indexes === undefined ? undefined : listOf(indexes, `${path}.indexes`, indexText),
  });
}

/** JSON text of a schema. Throws `TypeError` where it is none. */
export function schemaText(schema: unknown): JsonText {
  if (!isPlainObject(schema)) return objectText(schema, 'schema', 'a schema such as Q.Schema(…)');
  const { tables }: { tables?: unknown } = schema;
  return `{"tables":${listOf(tables, 'schema.tables', tableText)}}`;
}

function columnBuilder(builder: string, type: ColumnTypeName) {
  return (name: string, options?: Options) =>
    declarationOf(builder, name, { type, ...checkedOptions(builder, options) });
}

function checkedOptions(builder: string, options: Options): Options {
  if (options === undefined || isPlainObject(options)) return options;
  throw new TypeError(`Q.${builder}: expected options as an object, got ${kindOf(options)}`);
}

export const schemaBuilders: SchemaBuilders = {
  Schema: (...tables) => schemaText({ tables: tables.flat() }),
  Table: (name, columns, options) => tableText({ name, ...options, columns }, `Q.Table: ${name}`),
  Index: (name, columns, options) => declarationOf('Index', name, { columns, ...options }),
  Int32: columnBuilder('Int32', 'int32'),
  Int64: columnBuilder('Int64', 'int64'),
  Text: columnBuilder('Text', 'string'),
  LongText: columnBuilder('LongText', 'text'),
  Bool: columnBuilder('Bool', 'bool'),
  Decimal: columnBuilder('Decimal', 'decimal'),
  Double: columnBuilder('Double', 'float64'),
  Json: columnBuilder('Json', 'json'),
  DateTime: columnBuilder('DateTime', 'datetime'),
  Date: columnBuilder('Date', 'date'),
  Uuid: columnBuilder('Uuid', 'uuid'),
  Bytes: columnBuilder('Bytes', 'bytes'),
  Column: (name, type, options) => declarationOf('Column', name, { type, ...checkedOptions('Column', options) }),
};
