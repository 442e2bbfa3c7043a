import { isPlainObject, jsonText, kindOf, objectText } from './json-text.ts';
import { checkNames, namesOf } from './known-names.ts';
import type {
  AnyColumnOptions,
  BoolOptions,
  ColumnDeclaration,
  ColumnOptions,
  ColumnText,
  ColumnTypeName,
  DecimalOptions,
  Derivation,
  DerivedColumnText,
  DerivedOptions,
  DoubleOptions,
  IntegerOptions,
  JsonColumnText,
  LongTextOptions,
  TextOptions,
  TimeOptions,
  UuidOptions,
} from './schema-columns.ts';
import type { ColumnShape, SchemaShape, TableShape } from './typed-rows.ts';
import type { DescribedBy, JsonText, Text } from './typed-text.ts';

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

type TableParts = readonly (JsonText | TableDeclaration | readonly (JsonText | TableDeclaration)[])[];

type Flat<T> = T extends readonly (infer E)[] ? E : T;
/** Columns by name, of a list of column texts. */
type ColumnsIn<C extends readonly unknown[]> = {
  readonly [X in DescribedBy<C[number]> as X extends ColumnShape<infer N> ? N : never]: X;
};
/** Tables by name, of what was given to `Q.Schema`. */
type TablesIn<T extends TableParts> = {
  readonly [X in DescribedBy<Flat<T[number]>> as X extends TableShape<infer N> ? N : never]: X extends TableShape<
    string,
    infer C
  >
    ? C
    : never;
};

type TypedColumn<T extends ColumnTypeName, Options> = <const N extends string, const O extends Options>(
  name: N,
  options?: O,
) => ColumnText<N, T, O>;

export interface SchemaBuilders {
  /** All tables of a namespace; for `Sync`. A list does as well as several arguments. */
  Schema<const T extends TableParts>(...tables: T): Text<SchemaShape<TablesIn<T>>>;
  /** A table: `Q.Table('vehicles', [Q.Int64('id'), …], { primaryKey: ['id'], indexes: [Q.Index(…)] })`. */
  Table<const N extends string, const C extends readonly (JsonText | ColumnDeclaration)[]>(
    name: N,
    columns: C,
    options?: TableOptions,
  ): Text<TableShape<N, ColumnsIn<C>>>;
  /** Columns by which a large table is filtered and sorted need an index. */
  Index(name: string, columns: readonly string[], options?: { readonly unique?: boolean }): JsonText;
  /** Integers from -2,147,483,648 to 2,147,483,647. */
  readonly Int32: TypedColumn<'int32', IntegerOptions>;
  /** Integers of 64 bits. Past 2^53 `Rows` returns a BigInt. */
  readonly Int64: TypedColumn<'int64', IntegerOptions>;
  /** Text of at most `length` characters, 255 if not said. Compared by its bytes: case and accents count. */
  readonly Text: TypedColumn<'string', TextOptions>;
  /** Text of at most 1,000,000 characters; cannot stand in an index. */
  readonly LongText: TypedColumn<'text', LongTextOptions>;
  /** True or false. */
  readonly Bool: TypedColumn<'bool', BoolOptions>;
  /** Exact numbers with `scale` digits after the point: money. */
  readonly Decimal: TypedColumn<'decimal', DecimalOptions>;
  /** Measurements: coordinates, fuel. Not for money. */
  readonly Double: TypedColumn<'float64', DoubleOptions>;
  /** Anything that JSON can say; comes back as it went in. */
  readonly Json: TypedColumn<'json', ColumnOptions>;
  /** A json column whose values have a type: `Q.JsonOf<Position>()('position')`. Only the compiler knows of it. */
  JsonOf<V>(): <const N extends string, const O extends ColumnOptions>(name: N, options?: O) => JsonColumnText<N, V, O>;
  /** A moment, to the millisecond. Comes back as ISO text in UTC. */
  readonly DateTime: TypedColumn<'datetime', TimeOptions>;
  /** A day: `'2026-01-31'`. */
  readonly Date: TypedColumn<'date', TimeOptions>;
  /** An id such as `crypto.randomUUID()` makes. */
  readonly Uuid: TypedColumn<'uuid', UuidOptions>;
  /** Bytes, at most 1,000,000. Comes back as base64. */
  readonly Bytes: TypedColumn<'bytes', ColumnOptions>;
  /** A column of any type with any option. */
  Column<const N extends string, const T extends ColumnTypeName, const O extends AnyColumnOptions>(
    name: N,
    type: T,
    options?: O,
  ): ColumnText<N, T, O>;
  /**
   * A column that the sidecar computes from another one, with every write: a value inside of a json column
   * (`Q.Derived('gang', 'string', { from: 'data', path: ['gang', 'name'], length: 40 })`), or a text without accents and
   * case to search in (`{ from: 'name', fold: true }`). It may be filtered, sorted and indexed by, and is NULL if there
   * is no such value.
   */
  Derived<const N extends string, const T extends ColumnTypeName>(
    name: N,
    type: T,
    options: DerivedOptions,
  ): DerivedColumnText<N, T>;
}

const COLUMN_NAMES = namesOf<ColumnDeclaration>({
  name: true,
  type: true,
  nullable: true,
  default: true,
  unique: true,
  renamedFrom: true,
  length: true,
  precision: true,
  scale: true,
  autoIncrement: true,
  oneOf: true,
  onUpdate: true,
  derived: true,
});
const DERIVATION_NAMES = namesOf<Derivation>({ from: true, path: true, fold: true });
const INDEX_NAMES = namesOf<IndexDeclaration>({ name: true, columns: true, unique: true });
const TABLE_NAMES = namesOf<TableDeclaration>({
  name: true,
  columns: true,
  primaryKey: true,
  indexes: true,
  renamedFrom: true,
});

/** Members of a JSON object, those that are absent left out. */
function objectOf(members: Readonly<Record<string, JsonText | undefined>>): JsonText {
  const present = Object.entries(members).filter(([, text]) => text !== undefined);
  return `{${present.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

function listOf(items: unknown, path: string, itemText: (item: unknown, path: string) => JsonText): JsonText {
  if (!Array.isArray(items)) throw new TypeError(`${path}: expected a list, got ${kindOf(items)}`);
  return `[${items.map((item, index) => itemText(item, `${path}[${index}]`)).join(',')}]`;
}

function declarationOf(
  builder: string,
  name: string,
  rest: object | undefined,
  names: readonly string[] = COLUMN_NAMES,
): JsonText {
  if (typeof name !== 'string') throw new TypeError(`Q.${builder}: expected a name, got ${kindOf(name)}`);
  if (rest !== undefined && !isPlainObject(rest)) {
    throw new TypeError(`Q.${builder}: ${name}: expected options as an object, got ${kindOf(rest)}`);
  }
  const path = `Q.${builder}: ${name}`;
  const declared: Readonly<Record<string, unknown>> = { name, ...rest };
  checkDeclared(declared, names, path);
  return jsonText(declared, path);
}

function checkDeclared(declared: { readonly derived?: unknown }, names: readonly string[], path: string): void {
  checkNames(declared, names, path);
  if (isPlainObject(declared.derived)) checkNames(declared.derived, DERIVATION_NAMES, `${path}.derived`);
}

function columnText(column: unknown, path: string): JsonText {
  if (isPlainObject(column)) checkDeclared(column, COLUMN_NAMES, path);
  return objectText(column, path, 'a column such as Q.Int32(…)');
}

function indexText(index: unknown, path: string): JsonText {
  if (isPlainObject(index)) checkNames(index, INDEX_NAMES, path);
  return objectText(index, path, 'an index such as Q.Index(…)');
}

/** JSON text of a table, with its columns and indexes as text or objects. */
function tableText(table: unknown, path: string): JsonText {
  if (!isPlainObject(table)) return objectText(table, path, 'a table such as Q.Table(…)');
  checkNames(table, TABLE_NAMES, path);
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

/** JSON text of a schema. Throws `TypeError` if it is none. */
export function schemaText(schema: unknown): JsonText {
  if (!isPlainObject(schema)) return objectText(schema, 'schema', 'a schema such as Q.Schema(…)');
  checkNames(schema, ['tables'], 'schema');
  const { tables }: { tables?: unknown } = schema;
  return `{"tables":${listOf(tables, 'schema.tables', tableText)}}`;
}

function columnBuilder(builder: string, type: ColumnTypeName) {
  return (name: string, options?: object): JsonText =>
    declarationOf(builder, name, { type, ...checkedOptions(builder, options) });
}

function checkedOptions<O extends object>(builder: string, options: O | undefined): O | undefined {
  if (options === undefined || isPlainObject(options)) return options;
  throw new TypeError(`Q.${builder}: expected options as an object, got ${kindOf(options)}`);
}

function derivedColumn(name: string, type: ColumnTypeName, options: DerivedOptions): JsonText {
  const given = checkedOptions('Derived', options) ?? {};
  checkNames(given, [...DERIVATION_NAMES, ...COLUMN_NAMES], `Q.Derived: ${name}`);
  const { from, path, fold, ...rest }: Partial<DerivedOptions> = given;
  return declarationOf('Derived', name, { type, ...rest, derived: { from, path, fold } });
}

export const schemaBuilders: SchemaBuilders = {
  Schema: (...tables) => schemaText({ tables: tables.flat() }),
  Table: (name, columns, options) => tableText({ name, ...options, columns }, `Q.Table: ${name}`),
  Index: (name, columns, options) => declarationOf('Index', name, { columns, ...options }, INDEX_NAMES),
  Int32: columnBuilder('Int32', 'int32'),
  Int64: columnBuilder('Int64', 'int64'),
  Text: columnBuilder('Text', 'string'),
  LongText: columnBuilder('LongText', 'text'),
  Bool: columnBuilder('Bool', 'bool'),
  Decimal: columnBuilder('Decimal', 'decimal'),
  Double: columnBuilder('Double', 'float64'),
  Json: columnBuilder('Json', 'json'),
  JsonOf: () => columnBuilder('JsonOf', 'json'),
  DateTime: columnBuilder('DateTime', 'datetime'),
  Date: columnBuilder('Date', 'date'),
  Uuid: columnBuilder('Uuid', 'uuid'),
  Bytes: columnBuilder('Bytes', 'bytes'),
  Column: (name, type, options) => declarationOf('Column', name, { type, ...checkedOptions('Column', options) }),
  Derived: (name, type, options) => derivedColumn(name, type, options),
};
