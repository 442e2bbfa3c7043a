import type { Database } from 'better-sqlite3';
import type { Table } from '#protocol/schema.ts';
import type { RowWriter } from '../../model/page.ts';
import type { TableTarget } from '../../rows.ts';
import type { Prepared } from '../connection.ts';
import { physicalOf, quoted } from '../dialect.ts';
import { selection } from '../read-sql.ts';
import { rowWriter } from '../worker/row-json.ts';
import { type Comparison, isWholeKey, longColumns } from './unique-filter.ts';

/** Bytes of a row's values of types without a short length; longer rows are not read on the spot. */
const MAX_LONG_BYTES = 65_536;

/** A find of at most one row. Parameters are the values of the filter, in its order. */
export interface SpotPlan {
  readonly row: Prepared;
  /** Finds the row whatever its size; null if all rows are short. */
  readonly any: Prepared | null;
  readonly writer: RowWriter;
}

/** Null for comparisons that may match more than one row. */
export function prepareSpotPlan(
  db: Database,
  target: TableTarget,
  comparisons: readonly Comparison[],
  fields: readonly string[],
): SpotPlan | null {
  if (!isWholeKey(target.table, comparisons)) return null;
  const { list, columns } = selection(target.table, fields);
  const from = `FROM ${quoted(physicalOf(target))} WHERE ${comparisons.map(({ column }) => `${quoted(column.name)} = ?`).join(' AND ')}`;
  const bytes = longBytesSql(target.table);
  const prepare = (sql: string) => db.prepare(sql).raw() as Prepared;
  return {
    row: prepare(`SELECT ${list} ${from}${bytes === null ? '' : ` AND ${bytes} <= ${MAX_LONG_BYTES}`}`),
    any: bytes === null ? null : prepare(`SELECT 1 ${from}`),
    writer: rowWriter(columns),
  };
}

/** SQLite knows the size of a value without reading the value. */
function longBytesSql(table: Table): string | null {
  const long = longColumns(table);
  if (long.length === 0) return null;
  return long.map(({ name }) => `coalesce(octet_length(${quoted(name)}), 0)`).join(' + ');
}
