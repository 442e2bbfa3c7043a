import type { Database } from 'better-sqlite3';
import type { Column } from '../../../db_connector/protocol/columns.ts';
import type { Table } from '../../../db_connector/protocol/schema.ts';
import { compareColumns } from '../column-change.ts';
import type { JobContext } from './jobs.ts';
import { physicalTable, quoted } from './names.ts';
import { canConvert } from './schema-convert.ts';
import { uniqueSets } from './schema-ddl.ts';
import { fillOf } from './schema-fill.ts';
import type { TableTransition } from './schema-transition.ts';
import type { Physical } from './storage.ts';

/** Why rows that exist do not fit the declared table, in plain words; empty where all fit. Reads only. */
export function misfits(context: JobContext, namespace: string, change: TableTransition, now: number): string[] {
  const table = physicalTable(namespace, change.from.name);
  if (isEmpty(context.db, table)) return [];
  const found: string[] = [];
  for (const column of change.to.columns) {
    const source = change.sources.get(column.name);
    const where = `${namespace}.${change.to.name}.${column.name}`;
    if (source !== undefined) {
      found.push(...columnMisfits(context, table, source, column, where));
    } else if (fillOf(column, now).kind === 'none') {
      found.push(`${where}: a new required column needs a default, because the table has rows`);
    }
  }
  return found.length > 0 ? found : repeated(context, namespace, table, change, now);
}

export function isEmpty(db: Database, table: string): boolean {
  return db.prepare(`SELECT 1 FROM ${quoted(table)} LIMIT 1`).get() === undefined;
}

function columnMisfits(context: JobContext, table: string, from: Column, to: Column, where: string): string[] {
  const change = compareColumns(from, to);
  const found: string[] = [];
  if (change.becomesRequired) {
    const count = rowsWhere(context, table, `${quoted(from.name)} IS NULL`);
    if (count > 0) found.push(`${where}: ${rowsText(count)} NULL, and the column becomes required`);
  }
  if (change.narrows) {
    const count = rowsWhere(context, table, misfitSql(context.db, from, to));
    if (count > 0) found.push(`${where}: ${rowsText(count)} a value that does not fit ${sizeText(to)}`);
  }
  return found;
}

/** A condition that holds for rows whose value does not fit. */
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

function sizeText(column: Column): string {
  if (column.type === 'string') return `a length of ${column.length}`;
  if (column.type === 'decimal') return `decimal(${column.precision},${column.scale})`;
  return column.type;
}

function rowsText(count: number): string {
  return count === 1 ? '1 row has' : `${count} rows have`;
}

function rowsWhere(context: JobContext, table: string, condition: string): number {
  const sql = `SELECT count(*) FROM ${quoted(table)} WHERE guard() AND ${condition}`;
  return Number(context.db.prepare(sql).pluck().get());
}

/** Values that a new key, unique column or unique index would find twice. */
function repeated(
  context: JobContext,
  namespace: string,
  table: string,
  change: TableTransition,
  now: number,
): string[] {
  const kept = new Set(uniqueSets(change.from).map(setText));
  const found: string[] = [];
  for (const columns of newUniqueSets(change.to, change, kept)) {
    const sql = repeatedSql(table, columns, change, now);
    if (sql !== null && context.db.prepare(sql).get() !== undefined) {
      found.push(
        `${namespace}.${change.to.name}: rows repeat each other in ${columns.join(', ')}, which becomes unique`,
      );
    }
  }
  return found;
}

/** Conversions never make two values one, so that a set that was unique stays so. */
function newUniqueSets(to: Table, change: TableTransition, kept: ReadonlySet<string>): (readonly string[])[] {
  const seen = new Set<string>();
  return uniqueSets(to).filter((columns) => {
    const sources = columns.map((name) => change.sources.get(name)?.name);
    const isKept = sources.every((name) => name !== undefined) && kept.has(setText(sources));
    const isSeen = seen.has(setText(columns));
    seen.add(setText(columns));
    return !isKept && !isSeen;
  });
}

function setText(columns: readonly (string | undefined)[]): string {
  return columns.toSorted().join(' ');
}

/** A query that finds a row where values stand twice; null where they cannot. NULL equals nothing. */
function repeatedSql(table: string, columns: readonly string[], change: TableTransition, now: number): string | null {
  const grouped: string[] = [];
  for (const name of columns) {
    const source = change.sources.get(name);
    if (source !== undefined) {
      grouped.push(quoted(source.name));
      continue;
    }
    const column = change.to.columns.find((candidate) => candidate.name === name);
    const fill = column === undefined ? null : fillOf(column, now);
    // A constant is the same in all rows and so divides no group; anything else never stands twice.
    if (fill?.kind !== 'constant' || fill.value === null) return null;
  }
  const conditions = ['guard()', ...grouped.map((column) => `${column} IS NOT NULL`)].join(' AND ');
  const groups = grouped.length === 0 ? '' : `GROUP BY ${grouped.join(', ')} `;
  return `SELECT count(*) FROM ${quoted(table)} WHERE ${conditions} ${groups}HAVING count(*) > 1 LIMIT 1`;
}
