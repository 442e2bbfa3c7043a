import type { Database } from 'better-sqlite3';
import type { Filter } from '#protocol/filter.ts';
import type { Table } from '#protocol/schema.ts';
import type { RowWriter } from '../../model/page.ts';
import { uniqueSets } from '../../model/physical-indexes.ts';
import type { TableTarget } from '../../rows.ts';
import type { Prepared } from '../connection.ts';
import { physicalOf, quoted } from '../dialect.ts';
import { selection } from '../read-sql.ts';
import { rowWriter } from '../row-json.ts';

/** Bytes of a row's values of types without a short length; longer rows are not read on the spot. */
const MAX_LONG_BYTES = 65_536;

export type Equality = Filter & { readonly kind: 'compare' };

/** A find of at most one row. Parameters are the values of the filter, in its order. */
export interface SpotPlan {
  readonly row: Prepared;
  /** Finds the row whatever its size; null if all rows are short. */
  readonly any: Prepared | null;
  readonly writer: RowWriter;
}

/** The conditions of a filter that only joins equalities by "and"; else null. */
export function equalitiesOf(filter: Filter | null): readonly Equality[] | null {
  if (filter === null) return null;
  const members = filter.kind === 'and' ? filter.filters : [filter];
  return members.every(isEquality) ? members : null;
}

function isEquality(filter: Filter): filter is Equality {
  return filter.kind === 'compare' && filter.op === 'eq';
}

/** Null if the columns may match more than one row. */
export function prepareSpotPlan(
  db: Database,
  target: TableTarget,
  equalities: readonly Equality[],
  fields: readonly string[],
): SpotPlan | null {
  const names = new Set(equalities.map(({ column }) => column.name));
  if (names.size < equalities.length || !isUnique(target.table, names)) return null;
  const { list, columns } = selection(target.table, fields);
  const from = `FROM ${quoted(physicalOf(target))} WHERE ${[...names].map((name) => `${quoted(name)} = ?`).join(' AND ')}`;
  const bytes = longBytesSql(target.table);
  const prepare = (sql: string) => db.prepare(sql).raw() as Prepared;
  return {
    row: prepare(`SELECT ${list} ${from}${bytes === null ? '' : ` AND ${bytes} <= ${MAX_LONG_BYTES}`}`),
    any: bytes === null ? null : prepare(`SELECT 1 ${from}`),
    writer: rowWriter(columns),
  };
}

function isUnique(table: Table, names: ReadonlySet<string>): boolean {
  return uniqueSets(table).some((set) => set.length === names.size && set.every((name) => names.has(name)));
}

/** SQLite knows the size of a value without reading the value. */
function longBytesSql({ columns }: Table): string | null {
  const long = columns.filter(({ type }) => type === 'text' || type === 'json' || type === 'bytes');
  if (long.length === 0) return null;
  return long.map(({ name }) => `coalesce(octet_length(${quoted(name)}), 0)`).join(' + ');
}
