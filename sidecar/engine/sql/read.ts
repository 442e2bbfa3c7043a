import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import { MAX_BYTES_LENGTH, MAX_TEXT_LENGTH } from '#protocol/limits.ts';
import type { Table } from '#protocol/schema.ts';
import { type AggregateOutput, floatSumText, outputsOf } from '../model/aggregate.ts';
import { RowWriter } from '../model/page.ts';
import { HIDDEN_ID, physicalTable } from '../model/physical-names.ts';
import type { AggregateQuery, AggregateValue, FindQuery, SortKey, TableTarget } from '../rows.ts';
import { type Encode, type SqlDialect, SqlParams } from './dialect.ts';
import { filterSql } from './filter.ts';
import type { SqlParam } from './session.ts';

export interface CompiledStatement {
  readonly sql: string;
  readonly params: readonly SqlParam[];
}

export interface CompiledFind extends CompiledStatement {
  /** For rows whose first value is null if no row matches. */
  readonly writer: RowWriter;
}

/** Name of the table with the rows of a target. */
export function tableSql(dialect: SqlDialect, { namespace, table, physical }: TableTarget): string {
  return dialect.quoted(physical ?? physicalTable(namespace, table.name));
}

export function columnNamed(table: Table, name: string): Column {
  const column = table.columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw new Error(`column ${name} was not checked`);
  return column;
}

export function whereSql(filter: Filter | null, params: SqlParams): string {
  return filter === null ? '' : ` WHERE ${filterSql(filter, params)}`;
}

/** The columns of a select list. Made once for whole rows, which most finds ask for. */
interface Selection {
  readonly columns: readonly Column[];
  readonly writer: RowWriter;
  /** At most so many bytes of text, json and bytes are in a row. */
  readonly maxTextBytes: number;
}

/** Writes statements that read, for one dialect. */
export class ReadCompiler {
  readonly #dialect: SqlDialect;
  readonly #wholeRows = new WeakMap<Table, Selection>();

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
  }

  /**
   * A statement that returns no row at all if the schema has changed since, and a row that begins with NULL if nothing
   * matches: the revision's row is the outer side of the join, so that the page's order is kept.
   */
  find(target: TableTarget, query: FindQuery): CompiledFind {
    const selection = this.#selection(target.table, query.fields);
    return this.#paged(target, query, selection, (params) => this.#pageSql(target, query, selection.columns, params));
  }

  /** The same for groups; without `groupBy` there is always one group. */
  aggregate(target: TableTarget, query: AggregateQuery): CompiledFind {
    const dialect = this.#dialect;
    const outputs = outputsOf(query);
    const columns = outputs.map(({ column }) => column);
    const written = outputs.map((output) => ({ name: output.name, encode: outputEncoder(dialect, output) }));
    const selection = { columns, writer: new RowWriter(written, 1), maxTextBytes: textBytesOf(columns) };
    return this.#paged(target, query, selection, (params) => {
      const { list, groupBy, orderBy } = aggregateParts(dialect, query, outputs);
      const from = `FROM ${tableSql(dialect, target)}${whereSql(query.filter, params)}`;
      return `SELECT 1 AS _p, ${list} ${from}${groupBy}${orderBy} ${limitSql(query, params)}`;
    });
  }

  #paged(
    target: TableTarget,
    query: Pick<FindQuery, 'limit' | 'maxBytes'>,
    { columns, writer, maxTextBytes }: Selection,
    pageSql: (params: SqlParams) => string,
  ): CompiledFind {
    if (this.#dialect.streamsRows) return { ...this.#streamed(target, columns, pageSql), writer };
    const params = new SqlParams(this.#dialect);
    const isCut = maxTextBytes * (query.limit + 1) > query.maxBytes;
    const list = columns.map((column) => this.#listed(column, isCut, query.maxBytes)).join(', ');
    // Without columns, so that a name in the list means a column of the page.
    const current = `SELECT FROM _schemas r ${currentSql(target, params)}`;
    const page = pageSql(params);
    const rows = isCut ? this.#measuredSql(page, columns) : page;
    const sql = `SELECT t._p, ${list} FROM (${current}) r LEFT JOIN (${rows}) t ON TRUE`;
    return { sql, params: params.values, writer };
  }

  /**
   * The same in another form: first a row with NULL, which is missing if the schema has changed since, then the rows that
   * match. Needs no table in the memory of the server, as a join with a page would.
   */
  #streamed(
    target: TableTarget,
    columns: readonly Column[],
    pageSql: (params: SqlParams) => string,
  ): CompiledStatement {
    const params = new SqlParams(this.#dialect);
    const current = `SELECT NULL AS _p${', NULL'.repeat(columns.length)} FROM _schemas r ${currentSql(target, params)}`;
    return { sql: `(${current}) UNION ALL (${pageSql(params)})`, params: params.values };
  }

  /** Returns no row if the schema has changed since. */
  count(target: TableTarget, filter: Filter | null): CompiledStatement {
    const params = new SqlParams(this.#dialect);
    const count = `SELECT count(*) FROM ${tableSql(this.#dialect, target)}${whereSql(filter, params)}`;
    return { sql: `SELECT (${count}) FROM _schemas r ${currentSql(target, params)}`, params: params.values };
  }

  #pageSql(target: TableTarget, query: FindQuery, columns: readonly Column[], params: SqlParams): string {
    const list = columns.map((column) => this.#dialect.quoted(column.name)).join(', ');
    const where = whereSql(query.filter, params);
    const order = this.#orderSql(target.table, query.sort);
    return `SELECT 1 AS _p, ${list} FROM ${tableSql(this.#dialect, target)}${where} ORDER BY ${order} ${limitSql(query, params)}`;
  }

  /** Adds to each row the bytes of text in the rows before it. */
  #measuredSql(page: string, columns: readonly Column[]): string {
    const lengths = columns
      .filter((column) => textBytes(column) > 0)
      .map((column) => `COALESCE(${this.#dialect.byteLengthSql(this.#dialect.quoted(column.name))}, 0)`);
    const before = `SUM(${lengths.join(' + ')}) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
    return `SELECT s.*, ${before} AS _b FROM (${page}) s`;
  }

  /** Values that surely lie behind the end of the page stay on the server: rows of a megabyte would fill the memory here. */
  #listed(column: Column, isCut: boolean, maxBytes: number): string {
    const value = this.#dialect.readSql(column);
    return isCut && textBytes(column) > 0 ? `CASE WHEN COALESCE(t._b, 0) <= ${maxBytes} THEN ${value} END` : value;
  }

  /** The key, or the hidden id, breaks every tie. */
  #orderSql(table: Table, sort: readonly SortKey[]): string {
    const sorted = new Set(sort.map((key) => key.column));
    const order = sort.map((key) => this.#dialect.orderSql(columnNamed(table, key.column), key.dir));
    for (const name of table.primaryKey ?? []) {
      if (!sorted.has(name)) order.push(this.#dialect.orderSql(columnNamed(table, name), 'asc'));
    }
    if (table.primaryKey === undefined) order.push(`${this.#dialect.quoted(HIDDEN_ID)} ASC`);
    return order.join(', ');
  }

  #selection(table: Table, fields: readonly string[]): Selection {
    const isWhole =
      fields.length === table.columns.length && fields.every((name, i) => name === table.columns[i]?.name);
    if (!isWhole) return this.#selectionOf(fields.map((name) => columnNamed(table, name)));
    let whole = this.#wholeRows.get(table);
    if (whole === undefined) {
      whole = this.#selectionOf(table.columns);
      this.#wholeRows.set(table, whole);
    }
    return whole;
  }

  #selectionOf(columns: readonly Column[]): Selection {
    const written = columns.map((column) => ({ name: column.name, encode: this.#dialect.encoder(column) }));
    return { columns, writer: new RowWriter(written, 1), maxTextBytes: textBytesOf(columns) };
  }
}

/** The rest of a statement that reads beside `_schemas r`: nothing for another revision. */
function currentSql({ namespace, revision }: TableTarget, params: SqlParams): string {
  return `WHERE r.namespace = ${params.add(namespace)} AND r.revision = ${revision}`;
}

/** A limit in the text lets the server plan for it; the texts that differ only in it are few. */
function limitSql({ limit, offset }: Pick<FindQuery, 'limit' | 'offset'>, params: SqlParams): string {
  return `LIMIT ${limit + 1}${offset > 0 ? ` OFFSET ${params.add(BigInt(offset))}` : ''}`;
}

function textBytesOf(columns: readonly Column[]): number {
  return columns.reduce((sum, column) => sum + textBytes(column), 0);
}

const MAX_CHARACTER_BYTES = 4;

/** Most bytes that a value may take; 0 for types that are always short. */
function textBytes(column: Column): number {
  const { type } = column;
  switch (type) {
    case 'string':
      return (column.length ?? 0) * MAX_CHARACTER_BYTES;
    case 'text':
    case 'json':
      return MAX_TEXT_LENGTH * MAX_CHARACTER_BYTES;
    case 'bytes':
      return MAX_BYTES_LENGTH;
    case 'int32':
    case 'int64':
    case 'decimal':
    case 'float64':
    case 'bool':
    case 'datetime':
    case 'date':
    case 'uuid':
      return 0;
    default:
      return type satisfies never;
  }
}

/** The parts of an aggregate's select, but for its condition. */
export interface AggregateParts {
  /** Behind SELECT: each output under the name of its column. */
  readonly list: string;
  /** Empty if all rows are one group. */
  readonly groupBy: string;
  /** Empty if the result has one row. */
  readonly orderBy: string;
}

export function aggregateParts(
  dialect: SqlDialect,
  query: AggregateQuery,
  outputs: readonly AggregateOutput[],
): AggregateParts {
  const groups = query.groupBy.map((column) => dialect.quoted(column.name));
  const terms = [...groups, ...query.values.map((value) => valueSql(dialect, value))];
  const order = query.sort.map(({ output, dir }) => dialect.orderSql((outputs[output] as AggregateOutput).column, dir));
  return {
    list: outputs.map(({ column }, i) => `${terms[i]} AS ${dialect.quoted(column.name)}`).join(', '),
    groupBy: groups.length === 0 ? '' : ` GROUP BY ${groups.join(', ')}`,
    orderBy: order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`,
  };
}

function valueSql(dialect: SqlDialect, { fn, column }: AggregateValue): string {
  if (column === null) return 'count(*)';
  const name = dialect.quoted(column.name);
  if (fn === 'min' || fn === 'max') return dialect.extremeSql(fn, column);
  if (fn === 'sum') return dialect.sumSql(column);
  return fn === 'countDistinct' ? `count(DISTINCT ${name})` : `count(${name})`;
}

export function outputEncoder(dialect: SqlDialect, { column, value }: AggregateOutput): Encode {
  return value?.fn === 'sum' && column.type === 'float64' ? floatSumText : dialect.encoder(column);
}
