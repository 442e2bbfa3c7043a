import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import { HIDDEN_ID } from '../model/physical-names.ts';
import type { FindQuery, SortKey, TableTarget } from '../rows.ts';
import { type Physical, storageKind } from './dialect.ts';
import { filterSql } from './filter-sql.ts';
import { physicalOf, quoted } from './names.ts';
import type { OutputColumn, OutputKind } from './worker/messages.ts';

export interface CompiledRead {
  readonly sql: string;
  readonly params: Physical[];
  readonly columns: readonly OutputColumn[];
}

/** `guard()` comes first, so that it is asked for every row that is visited; indexes serve as without it. */
export function whereSql(filter: Filter | null, params: Physical[]): string {
  return filter === null ? 'WHERE guard()' : `WHERE guard() AND ${filterSql(filter, params)}`;
}

export function compileFind(target: TableTarget, query: FindQuery): CompiledRead {
  const { list, columns } = selection(target.table, query.fields);
  const params: Physical[] = [];
  const where = whereSql(query.filter, params);
  params.push(query.limit + 1, query.offset);
  const table = quoted(physicalOf(target));
  const sql = `SELECT ${list} FROM ${table} ${where} ORDER BY ${orderSql(target.table, query.sort)} LIMIT ? OFFSET ?`;
  return { sql, params, columns };
}

export function compileCount(target: TableTarget, filter: Filter | null): CompiledRead {
  const params: Physical[] = [];
  const where = whereSql(filter, params);
  const table = quoted(physicalOf(target));
  return { sql: `SELECT count(*) FROM ${table} ${where}`, params, columns: [] };
}

interface Selection {
  readonly list: string;
  readonly columns: readonly OutputColumn[];
}

/** Of all columns, which is what most finds ask for. A table lives as long as its schema is cached. */
const wholeRows = new WeakMap<Table, Selection>();

function selection(table: Table, fields: readonly string[]): Selection {
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

/** NULL sorts first ascending in SQLite, as the contract wants it. The key, or the hidden id, breaks every tie. */
function orderSql(table: Table, sort: readonly SortKey[]): string {
  const sorted = new Set(sort.map((key) => key.column));
  const order = sort.map((key) => `${quoted(key.column)} ${key.dir === 'asc' ? 'ASC' : 'DESC'}`);
  const ties = table.primaryKey ?? [HIDDEN_ID];
  for (const name of ties) if (!sorted.has(name)) order.push(`${quoted(name)} ASC`);
  return order.join(', ');
}
