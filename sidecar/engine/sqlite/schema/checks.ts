import type { Database } from 'better-sqlite3';
import { type ColumnCheck, columnChecks, repeatChecks } from '#engine/model/row-checks.ts';
import type { TableTransition } from '#engine/model/table-transition.ts';
import type { Column } from '#protocol/columns.ts';
import type { Physical } from '../dialect.ts';
import { physicalTable, quoted } from '../names.ts';
import type { JobContext } from '../worker/jobs.ts';
import { canConvert } from './convert.ts';
import { columnList } from './ddl.ts';

/** Why rows that exist do not fit the declared table, in plain words; empty where all fit. Reads only. */
export function misfits({ db }: JobContext, namespace: string, change: TableTransition, now: number): string[] {
  const table = quoted(physicalTable(namespace, change.from.name));
  if (db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() === undefined) return [];
  const found = columnChecks(namespace, change, now).flatMap((check) => {
    const sql = `SELECT count(*) FROM ${table} WHERE guard() AND ${conditionSql(db, check)}`;
    const params = check.kind === 'unlisted' ? check.values : [];
    const count = Number(
      db
        .prepare(sql)
        .pluck()
        .get(...params),
    );
    return count > 0 ? [check.fault(count)] : [];
  });
  if (found.length > 0) return found;
  return repeatChecks(namespace, change, now)
    .filter(({ columns }) => db.prepare(repeatedSql(table, columns)).get() !== undefined)
    .map(({ fault }) => fault);
}

/** A condition that holds for rows that do not fit. */
function conditionSql(db: Database, check: ColumnCheck): string {
  switch (check.kind) {
    case 'null':
      return `${quoted(check.from.name)} IS NULL`;
    case 'misfit':
      return misfitSql(db, check.from, check.to);
    case 'unlisted':
      return `${quoted(check.from.name)} NOT IN (${check.values.map(() => '?').join(', ')})`;
    case 'row':
      return '1';
    default:
      return check satisfies never;
  }
}

function misfitSql(db: Database, from: Column, to: Column): string {
  const column = quoted(from.name);
  if (to.type === 'string') return `length(${column}) > ${Number(to.length)}`;
  const fits = (value: Physical): number => (canConvert(from, to, value) ? 1 : 0);
  db.function(
    '_fits',
    { deterministic: true, directOnly: true, safeIntegers: true },
    fits as (...values: unknown[]) => number,
  );
  return `_fits(${column}) = 0`;
}

/** Finds a row where values stand twice. */
function repeatedSql(table: string, columns: readonly string[]): string {
  const conditions = ['guard()', ...columns.map((column) => `${quoted(column)} IS NOT NULL`)].join(' AND ');
  const groups = columns.length === 0 ? '' : `GROUP BY ${columnList(columns)} `;
  return `SELECT count(*) FROM ${table} WHERE ${conditions} ${groups}HAVING count(*) > 1 LIMIT 1`;
}
