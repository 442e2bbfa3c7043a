import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import type { Value } from '#protocol/values.ts';
import { HIDDEN_ID } from '../model/physical-names.ts';
import type { FindQuery, SortKey, TableTarget } from '../rows.ts';
import { type FilterWriter, filterSql as writeFilter } from '../sql/filter.ts';
import { type Physical, physicalOf, quoted, storageKind, toPhysical } from './dialect.ts';
import { comparisonsOf, hasLongColumns, isWholeKey } from './spot/unique-filter.ts';
import type { IndexedSql, OutputColumn, OutputKind } from './worker/messages.ts';

export interface CompiledRead {
  readonly sql: string;
  readonly params: Physical[];
  readonly columns: readonly OutputColumn[];
}

/**
 * `guard()` comes first, so that every visited row calls it; SQLite still uses the indexes. A filter of a whole key visits
 * one row and needs none.
 */
export function whereSql(table: Table, filter: Filter | null, params: Physical[]): string {
  if (filter === null) return 'WHERE guard()';
  const isOneRow = isWholeKey(table, comparisonsOf(filter) ?? []);
  return `WHERE ${isOneRow ? '' : 'guard() AND '}${filterSql(filter, params)}`;
}

/** A find, whose last two parameters are the number of rows and the offset. */
export interface CompiledFind extends CompiledRead {
  /** The statement if an index gives all rows in their order; null if it cannot, or the offset may take long. */
  readonly indexed: IndexedSql | null;
  /** Rows to read at once, so that long ones take no more memory than an answer. */
  readonly stepRows: number;
}

/** Rows that are visited without a look at the deadline. */
const MAX_UNGUARDED_OFFSET = 1000;
const STEP_ROWS = 1024;
const STEP_LONG_ROWS = 16;

export function compileFind(target: TableTarget, query: FindQuery): CompiledFind {
  const { table } = target;
  const { list, columns } = selection(table, query.fields);
  const params: Physical[] = [];
  const condition = query.filter === null ? '' : filterSql(query.filter, params);
  params.push(query.limit + 1, query.offset);
  const from = `SELECT ${list} FROM ${quoted(physicalOf(target))} `;
  const order = ` ORDER BY ${orderSql(table, query.sort)} LIMIT ? OFFSET ?`;
  const comparisons = query.offset <= MAX_UNGUARDED_OFFSET ? comparisonsOf(query.filter) : null;
  const unguarded = `${from}${condition === '' ? '' : `WHERE ${condition}`}${order}`;
  return {
    sql: `${from}WHERE guard()${condition === '' ? '' : ` AND ${condition}`}${order}`,
    params,
    columns,
    indexed: comparisons === null ? null : { sql: unguarded, terms: comparisons.length },
    stepRows: hasLongColumns(table) ? STEP_LONG_ROWS : STEP_ROWS,
  };
}

export function compileCount(target: TableTarget, filter: Filter | null): CompiledRead {
  const params: Physical[] = [];
  const where = whereSql(target.table, filter, params);
  const table = quoted(physicalOf(target));
  return { sql: `SELECT count(*) FROM ${table} ${where}`, params, columns: [] };
}

interface Selection {
  readonly list: string;
  readonly columns: readonly OutputColumn[];
}

/** Selections of all columns, for most finds. A table lives as long as its schema is cached. */
const wholeRows = new WeakMap<Table, Selection>();

/** Columns of the rows of a read. */
export function selection(table: Table, fields: readonly string[]): Selection {
  if (!isWholeRow(table, fields)) return selectionOf(fields.map((name) => columnNamed(table, name)));
  let whole = wholeRows.get(table);
  if (whole === undefined) {
    whole = selectionOf(table.columns);
    wholeRows.set(table, whole);
  }
  return whole;
}

function isWholeRow(table: Table, fields: readonly string[]): boolean {
  return fields.length === table.columns.length && fields.every((name, i) => name === table.columns[i]?.name);
}

function columnNamed(table: Table, name: string): Column {
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw new Error(`column ${name} was not checked`);
  return column;
}

function selectionOf(columns: readonly Column[]): Selection {
  return {
    list: columns.map((column) => readSql(column, quoted(column.name))).join(', '),
    columns: columns.map((column) => ({ name: column.name, kind: outputKind(column) })),
  };
}

/** Integers past 2^53 leave SQLite as text, which costs less than a bigint. */
export function readSql(column: Column, sql: string): string {
  const isLarge = column.type === 'int64' || storageKind(column) === 'scaled';
  return isLarge ? `CAST(${sql} AS TEXT)` : sql;
}

export function outputKind(column: Column): OutputKind {
  const { type } = column;
  switch (type) {
    case 'int32':
    case 'float64':
      return { as: 'number' };
    case 'int64':
    case 'json':
      return { as: 'raw' };
    case 'bool':
      return { as: 'bool' };
    case 'string':
    case 'text':
      return { as: 'string' };
    case 'datetime':
    case 'date':
    case 'uuid':
      return { as: 'plain' };
    case 'bytes':
      return { as: 'base64' };
    case 'decimal': {
      const scale = decimalScale(column);
      if (storageKind(column) === 'scaled') return { as: 'scaled', scale };
      return { as: 'wide', precision: decimalPrecision(column), scale };
    }
    default:
      return type satisfies never;
  }
}

/** NULL sorts first ascending in SQLite, as in the contract. The key, or the hidden id, breaks every tie. */
function orderSql(table: Table, sort: readonly SortKey[]): string {
  const sorted = new Set(sort.map((key) => key.column));
  const order = sort.map((key) => `${quoted(key.column)} ${key.dir === 'asc' ? 'ASC' : 'DESC'}`);
  const ties = table.primaryKey ?? [HIDDEN_ID];
  for (const name of ties) if (!sorted.has(name)) order.push(`${quoted(name)} ASC`);
  return order.join(', ');
}

/** Longer lists travel as one parameter: SQLite takes 32,766 of them, and a filter may hold 128 lists of 1000. */
const MAX_INLINE_VALUES = 32;
/** SQLite's own search takes time proportional to length of text times length of part. */
const MAX_INSTR_CHARS = 32;

/** A filter as SQL, its values appended to `params` in order. */
export function filterSql(filter: Filter, params: Physical[]): string {
  return writeFilter(filter, new SqliteFilterWriter(params));
}

class SqliteFilterWriter implements FilterWriter {
  readonly #params: Physical[];

  constructor(params: Physical[]) {
    this.#params = params;
  }

  quoted(name: string): string {
    return quoted(name);
  }

  value(column: Column, value: Value): string {
    this.#params.push(toPhysical(column, value));
    return '?';
  }

  list(filter: Filter & { kind: 'in' }): string {
    return listSql(filter, this.#params);
  }

  contains({ column, value }: Filter & { kind: 'text' }): string {
    const name = quoted(column.name);
    this.#params.push(value);
    if (value.length > MAX_INSTR_CHARS) return `contains_text(${name}, ?)`;
    // A search in a megabyte takes milliseconds, and the row's guard runs once for all conditions of a filter.
    return column.type === 'text' ? `guard_now() AND instr(${name}, ?) > 0` : `instr(${name}, ?) > 0`;
  }
}

function listSql(filter: Filter & { kind: 'in' }, params: Physical[]): string {
  const name = quoted(filter.column.name);
  const not = filter.negated ? 'NOT ' : '';
  const values = filter.values.map((value) => toPhysical(filter.column, value));
  if (values.length <= MAX_INLINE_VALUES) return `${name} ${not}IN (${inlineList(values, params)})`;
  const kind = storageKind(filter.column);
  switch (kind) {
    case 'real':
      // SQLite may parse a number wrong by the last bit; JavaScript does not.
      params.push(JSON.stringify(values));
      return `${not}listed_float(${name}, ?)`;
    case 'blob':
      params.push(
        JSON.stringify(
          values.map((value) =>
            Buffer.from(value as Uint8Array)
              .toString('hex')
              .toUpperCase(),
          ),
        ),
      );
      return hexListSql(name, not);
    case 'int':
    case 'scaled':
      params.push(`[${values.join(',')}]`);
      return `${name} ${not}IN (SELECT value FROM json_each(?))`;
    case 'text':
    case 'wide':
      params.push(JSON.stringify(values));
      return `${name} ${not}IN (SELECT value FROM json_each(?))`;
    default:
      return kind satisfies never;
  }
}

/** hex(NULL) is '', so NULL needs a condition of its own. */
function hexListSql(name: string, not: string): string {
  return `CASE WHEN ${name} IS NULL THEN NULL ELSE hex(${name}) ${not}IN (SELECT value FROM json_each(?)) END`;
}

/** Filled up to a power of two with its last value, so that few statements serve all lengths. */
function inlineList(values: readonly Physical[], params: Physical[]): string {
  const places = 2 ** Math.ceil(Math.log2(values.length));
  for (let place = 0; place < places; place++) params.push(values[Math.min(place, values.length - 1)] as Physical);
  return Array(places).fill('?').join(',');
}
