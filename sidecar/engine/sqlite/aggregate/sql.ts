import { decimalScale } from '#protocol/value-numbers.ts';
import { type AggregateOutput, outputsOf } from '../../model/aggregate.ts';
import type { AggregateQuery, AggregateValue, TableTarget } from '../../rows.ts';
import { type Physical, physicalOf, quoted, storageKind, WIDE_SUM_PRECISION } from '../dialect.ts';
import { type CompiledRead, filterSql, outputKind, readSql } from '../read-sql.ts';
import type { AggregateRanges, OutputKind } from '../worker/messages.ts';
import { MAX_GROUPS } from './ranges.ts';

export interface CompiledAggregate extends CompiledRead {
  /** Statement for sums past 64 bits, on which `sql` fails; null if no sum can be so large. */
  readonly exact: Pick<CompiledRead, 'sql' | 'columns'> | null;
  /** Statements for ranges of row ids; null if the parts cannot be put together, or there is a filter. */
  readonly ranges: CompiledRanges | null;
}

interface CompiledRanges {
  readonly next: string;
  readonly part: Pick<CompiledRead, 'sql' | 'columns'>;
  readonly plan: Omit<AggregateRanges, 'next' | 'part'>;
}

/** How an output is computed, read, and sorted by. */
interface Term {
  readonly read: string;
  readonly order: readonly string[];
  readonly kind: OutputKind;
}

/** Row numbers that are checked: two primes, so that no regular gap in the stored numbers avoids the check. */
const GUARD = '((_rowid_ % 61 <> 7 AND _rowid_ % 67 <> 11) OR guard_now())';

/**
 * A row costs a few instructions here, and a call of `guard()` much more: only one row in 32 calls it. Sums are SQLite's
 * own and fail past 64 bits; then the halves of the integers are summed.
 */
export function compileAggregate(target: TableTarget, query: AggregateQuery): CompiledAggregate {
  const params: Physical[] = [];
  const where = query.filter === null ? GUARD : `${GUARD} AND ${filterSql(query.filter, params)}`;
  params.push(query.limit + 1, query.offset);
  const written = (isExact: boolean) => {
    const outputs = outputsOf(query);
    const terms = outputs.map((output, i) => termOf(output, query.groupBy[i]?.name ?? '', isExact));
    const groups = query.groupBy.map((column) => quoted(column.name)).join(', ');
    const order = query.sort.flatMap(({ output, dir }) => terms[output]?.order.map((sql) => `${sql} ${dir}`) ?? []);
    // Statements are known by their text, and another output name must be another statement. No column has such a name.
    const list = outputs.map(({ name }, i) => `${terms[i]?.read} AS "=${name}"`).join(', ');
    const grouped = `${groups === '' ? '' : ` GROUP BY ${groups}`}${order.length === 0 ? '' : ` ORDER BY ${order.join(', ')}`}`;
    const sql = `SELECT ${list} FROM ${quoted(physicalOf(target))} WHERE ${where}${grouped} LIMIT ? OFFSET ?`;
    return { sql, columns: outputs.map(({ name }, i) => ({ name, kind: (terms[i] as Term).kind })) };
  };
  const exact = query.values.some(mayOverflow) ? written(true) : null;
  return { ...written(false), params, exact, ranges: compileRanges(target, query) };
}

function compileRanges(target: TableTarget, query: AggregateQuery): CompiledRanges | null {
  const { groupBy, values, sort, offset } = query;
  // SQLite finds these at the end of an index, or without reading a row.
  const isFound = groupBy.length === 0 && values.length === 1 && (values[0]?.fn !== 'sum' || values[0].column === null);
  if (query.filter !== null || isFound) return null;
  const merges: AggregateRanges['merges'][number][] = [];
  for (const value of values) {
    const merge = mergeOf(value);
    if (merge === null) return null;
    merges.push(merge);
  }
  const outputs = outputsOf(query);
  const terms = outputs.map((output, i) => termOf(output, query.groupBy[i]?.name ?? '', false));
  const list = terms.map(({ order }, i) => `${order[0]} AS "=${outputs[i]?.name}"`).join(', ');
  const groups = groupBy.length === 0 ? '' : ` GROUP BY ${groupBy.map(({ name }) => quoted(name)).join(', ')}`;
  const table = quoted(physicalOf(target));
  return {
    next: `SELECT _rowid_ FROM ${table} WHERE _rowid_ >= ? ORDER BY _rowid_ LIMIT 1 OFFSET ?`,
    part: {
      sql: `SELECT ${list} FROM ${table} WHERE _rowid_ BETWEEN ? AND ?${groups} LIMIT ${MAX_GROUPS + 1}`,
      columns: outputs.map(({ name }, i) => ({ name, kind: (terms[i] as Term).kind })),
    },
    plan: { groups: groupBy.length, merges, sort, offset },
  };
}

/** Null if values of parts do not give that of the whole: doubles depend on the order in which they are added. */
function mergeOf({ fn, column }: AggregateValue): AggregateRanges['merges'][number] | null {
  if (fn === 'countDistinct') return null;
  if (fn !== 'sum') return fn === 'count' ? 'sum' : fn;
  return column === null || column.type === 'float64' || storageKind(column) === 'wide' ? null : 'sum';
}

function mayOverflow({ fn, column }: AggregateValue): boolean {
  if (fn !== 'sum' || column === null) return false;
  return column.type === 'int64' || storageKind(column) === 'scaled';
}

function termOf({ column, value }: AggregateOutput, group: string, isExact: boolean): Term {
  if (value === null) return plainTerm(column, quoted(group));
  const { fn } = value;
  if (value.column === null) return numberTerm('count(*)');
  const name = quoted(value.column.name);
  if (fn === 'count') return numberTerm(`count(${name})`);
  if (fn === 'countDistinct') return numberTerm(`count(DISTINCT ${name})`);
  if (fn === 'sum') return sumTerm(value.column, isExact && mayOverflow(value));
  return plainTerm(column, `${fn}(${name})`);
}

function plainTerm(column: AggregateOutput['column'], sql: string): Term {
  return { read: readSql(column, sql), order: [sql], kind: outputKind(column) };
}

const numberTerm = (sql: string): Term => ({ read: sql, order: [sql], kind: { as: 'number' } });

function sumTerm(column: NonNullable<AggregateValue['column']>, isExact: boolean): Term {
  const name = quoted(column.name);
  const sum = `sum(${name})`;
  if (column.type === 'float64') return { read: sum, order: [sum], kind: { as: 'floatSum' } };
  const scale = column.type === 'decimal' ? decimalScale(column) : 0;
  if (storageKind(column) === 'wide') {
    const wide = `sum_wide(${name})`;
    return { read: wide, order: [wide], kind: { as: 'wide', precision: WIDE_SUM_PRECISION, scale } };
  }
  if (!isExact) return { read: `CAST(${sum} AS TEXT)`, order: [sum], kind: { as: 'scaled', scale } };
  const low = `sum(${name} & 4294967295)`;
  const high = `(sum(${name} >> 32) + (${low} >> 32))`;
  const rest = `(${low} & 4294967295)`;
  return { read: `${high} || ':' || ${rest}`, order: [high, rest], kind: { as: 'halves', scale } };
}
