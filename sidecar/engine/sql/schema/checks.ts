import { type ColumnCheck, columnChecks, repeatChecks } from '#engine/model/row-checks.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { Column } from '#protocol/columns.ts';
import { INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN } from '#protocol/limits.ts';
import { decimalPrecision, decimalScale } from '#protocol/value-numbers.ts';
import type { SchemaConnection } from './connection.ts';

/** Why existing rows do not fit the declared table, in plain words; empty if all fit. Reads only. */
export async function misfits(
  connection: SchemaConnection,
  namespace: string,
  change: TableTransition,
  now: number,
): Promise<string[]> {
  const table = connection.quoted(connection.physicalTable(namespace, change.from.name));
  if ((await connection.rows(`SELECT 1 FROM ${table} LIMIT 1`)).length === 0) return [];
  const found: string[] = [];
  for (const check of columnChecks(namespace, change, now)) {
    const sql = `SELECT count(*) FROM ${table} WHERE ${connection.dialect.guardSql}${conditionSql(connection, check)}`;
    const count = await connection.number(sql, check.kind === 'unlisted' ? check.values : []);
    if (count > 0) found.push(check.fault(count));
  }
  if (found.length > 0) return found;
  for (const { columns, fault } of repeatChecks(namespace, change, now)) {
    if ((await connection.rows(repeatedSql(connection, table, columns))).length > 0) found.push(fault);
  }
  return found;
}

/** Condition that holds for rows that do not fit. */
function conditionSql(connection: SchemaConnection, check: ColumnCheck): string {
  switch (check.kind) {
    case 'null':
      return `${connection.quoted(check.from.name)} IS NULL`;
    case 'misfit':
      return connection.dialect.misfitSql(check.from, check.to);
    case 'unlisted':
      return `${connection.quoted(check.from.name)} NOT IN (${check.values.map(() => '?').join(', ')})`;
    case 'row':
      return '1 = 1';
    default:
      return check satisfies never;
  }
}

/**
 * `misfitSql` of servers, for the name of a column. NULL always fits: a comparison with it is unknown, and such rows are
 * not counted. `cutSql` cuts an exact number to `scale` fraction digits; its type must hold every decimal of the contract.
 */
export function outOfRangeSql(
  column: string,
  to: Column,
  cutSql: (expression: string, scale: number) => string,
): string {
  if (to.type === 'string') return `char_length(${column}) > ${Number(to.length)}`;
  const [min, max] = rangeOf(to);
  const scale = to.type === 'decimal' ? decimalScale(to) : 0;
  return `(${column} < ${min} OR ${column} > ${max} OR ${column} <> ${cutSql(column, scale)})`;
}

/** Smallest and greatest value of an exact type, as literals with all their digits. */
function rangeOf(column: Column): readonly [string, string] {
  if (column.type === 'int32') return [String(INT32_MIN), String(INT32_MAX)];
  if (column.type === 'int64') return [String(INT64_MIN), String(INT64_MAX)];
  const scale = decimalScale(column);
  const digits = '9'.repeat(decimalPrecision(column)).padStart(scale + 1, '0');
  const point = digits.length - scale;
  const max = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return [`-${max}`, max];
}

/** Finds values that occur twice. */
function repeatedSql(connection: SchemaConnection, table: string, columns: readonly string[]): string {
  if (columns.length === 0) return `SELECT 1 FROM ${table} LIMIT 1 OFFSET 1`;
  const present = columns.map((column) => `${connection.quoted(column)} IS NOT NULL`).join(' AND ');
  return `SELECT 1 FROM ${table} WHERE ${connection.dialect.guardSql}${present} GROUP BY ${connection.list(columns)} HAVING count(*) > 1 LIMIT 1`;
}
