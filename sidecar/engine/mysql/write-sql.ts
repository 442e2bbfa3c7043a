import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import type { Value } from '#protocol/values.ts';
import { HIDDEN_ID } from '../model/physical-names.ts';
import { upsertChange } from '../model/upsert-change.ts';
import type { Row, TableTarget, Write } from '../rows.ts';
import { setSql } from '../sql/change.ts';
import { SqlParams } from '../sql/dialect.ts';
import { filterSql } from '../sql/filter.ts';
import { type CompiledStatement, tableSql } from '../sql/read.ts';
import type { SqlParam } from '../sql/session.ts';
import { MYSQL_DIALECT } from './dialect.ts';

const { quoted } = MYSQL_DIALECT;

/** The protocol counts parameters in 16 bits; some are left for the guard. */
export const MAX_PARAMS = 65_000;

/** How many rows one statement takes. */
export function rowsAtOnce(columns: number, maxParams: number): number {
  return Math.max(1, Math.floor(maxParams / Math.max(1, columns)));
}

/** Changes nothing if the schema has changed since. */
export function compileUpdate(target: TableTarget, write: Write & { readonly op: 'update' }): CompiledStatement {
  const params = new SqlParams(MYSQL_DIALECT);
  const changes = setSql(MYSQL_DIALECT, target.table, write, params);
  const sql = `UPDATE ${tableSql(MYSQL_DIALECT, target)} SET ${changes}${guardedWhere(target, write.filter, params)}`;
  return { sql, params: params.values };
}

/** Changes nothing if the schema has changed since. */
export function compileDelete(target: TableTarget, filter: Filter | null): CompiledStatement {
  const params = new SqlParams(MYSQL_DIALECT);
  const sql = `DELETE FROM ${tableSql(MYSQL_DIALECT, target)}${guardedWhere(target, filter, params)}`;
  return { sql, params: params.values };
}

/**
 * The first statement of an upsert: changes the existing row, or only looks for it if nothing of it is to change. Finds no
 * row if the schema has changed since.
 */
export function compileUpsertChange(target: TableTarget, write: Write & { readonly op: 'upsert' }): CompiledStatement {
  const params = new SqlParams(MYSQL_DIALECT);
  const table = tableSql(MYSQL_DIALECT, target);
  const changed = upsertChange(write);
  const changes = setSql(MYSQL_DIALECT, target.table, changed, params);
  const change = changed.isEmpty ? `SELECT 1 FROM ${table}` : `UPDATE ${table} SET ${changes}`;
  const keys = target.table.columns
    .filter((column) => write.keys.includes(column.name))
    .map((column) => `${quoted(column.name)} = ${params.value(column, write.row.get(column.name) ?? null)}`);
  const sql = `${change} WHERE ${keys.join(' AND ')} AND ${currentSql(target, params)}`;
  return { sql, params: params.values };
}

function guardedWhere(target: TableTarget, filter: Filter | null, params: SqlParams): string {
  const condition = filter === null ? '' : `${filterSql(filter, params)} AND `;
  return ` WHERE ${condition}${currentSql(target, params)}`;
}

export function currentSql({ namespace, revision }: TableTarget, params: SqlParams): string {
  return `EXISTS (SELECT 1 FROM _schemas WHERE namespace = ${params.add(namespace)} AND revision = ${revision})`;
}

/**
 * All rows have a value for the generated column, or none does. If the schema has changed since, the statement fails with
 * one of `GUARD_FAILURES`: an INSERT of values has no WHERE, and an INSERT of a SELECT would convert all its values to the
 * types of the first row.
 */
export function compileInsert(target: TableTarget, rows: readonly Row[]): CompiledStatement {
  const { table } = target;
  const columns = table.columns.filter((column) => !column.autoIncrement || rows[0]?.has(column.name));
  const params = new SqlParams(MYSQL_DIALECT);
  const guarded = guardColumn(table, columns);
  const names = guarded === null ? [quoted(generatedName(table)), ...namesOf(columns)] : namesOf(columns);
  const lines = rows.map((row, line) => {
    const isFirst = line === 0;
    // Text is written from left to right, like its parameters.
    const generated = isFirst && guarded === null ? guardSql(target, params, true, () => 'NULL') : 'NULL';
    const values = columns.map((column) => {
      const place = (): string => params.add(insertedParam(column, row.get(column.name) ?? null));
      return isFirst && column === guarded ? guardSql(target, params, column.autoIncrement, place) : place();
    });
    return `(${[...(guarded === null ? [generated] : []), ...values].join(', ')})`;
  });
  const sql = `INSERT INTO ${tableSql(MYSQL_DIALECT, target)} (${names.join(', ')}) VALUES ${lines.join(', ')}`;
  return { sql: `${sql}${returningSql(table, rows)}`, params: params.values };
}

/** MariaDB alone reads this comment: on a cluster the distance between ids of one statement may change at any time. */
function returningSql({ columns }: Table, rows: readonly Row[]): string {
  const generated = columns.find((column) => column.autoIncrement);
  if (generated === undefined || rows.length < 2 || rows[0]?.has(generated.name)) return '';
  return ` /*M!100500 RETURNING ${quoted(generated.name)} */`;
}

/** An integer goes as its digits: the column takes them as they are, and the driver is slow with typed integers. */
function insertedParam(column: Column, value: Value): SqlParam {
  const isInteger = column.type === 'int32' || column.type === 'int64';
  return isInteger && value !== null ? String(value) : MYSQL_DIALECT.toParam(column, value);
}

function namesOf(columns: readonly Column[]): string[] {
  return columns.map((column) => quoted(column.name));
}

/** A column of the key, since it is never NULL; null if the server generates the key. */
function guardColumn(table: Table, columns: readonly Column[]): Column | null {
  return columns.find((column) => table.primaryKey?.includes(column.name)) ?? null;
}

function generatedName(table: Table): string {
  return table.columns.find((column) => column.autoIncrement)?.name ?? HIDDEN_ID;
}

/** Value of a column that accepts neither NULL nor, if NULL makes it generate, a text. */
function guardSql(
  { namespace, revision }: TableTarget,
  params: SqlParams,
  isGenerating: boolean,
  place: () => string,
): string {
  const current = `SELECT 1 FROM _schemas WHERE namespace = ${params.add(namespace)} AND revision = ${revision}`;
  return `IF(EXISTS (${current}), ${place()}, ${isGenerating ? "'stale'" : 'NULL'})`;
}
