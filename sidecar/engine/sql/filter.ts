import type { Column } from '#protocol/columns.ts';
import type { ComparisonOp, Filter } from '#protocol/filter.ts';
import type { Value } from '#protocol/values.ts';
import { endOfPrefix } from '../model/text-prefix.ts';

/** Differences between SQL dialects in filters. Text is written from left to right, parameters are added in that order. */
export interface FilterWriter {
  quoted(name: string): string;
  /** Adds a parameter with a value of the column and gives its place. */
  value(column: Column, value: Value): string;
  list(filter: Filter & { readonly kind: 'in' }): string;
  contains(filter: Filter & { readonly kind: 'text' }): string;
}

const OPERATORS = { eq: '=', ne: '<>', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const satisfies Record<
  ComparisonOp,
  string
>;

/** A filter as SQL. Three-valued logic is SQL's own: a comparison with NULL is NULL, and so is NOT NULL. */
export function filterSql(filter: Filter, writer: FilterWriter): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const members = filter.filters.map((member) => filterSql(member, writer));
      return `(${members.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      return `(NOT ${filterSql(filter.filter, writer)})`;
    case 'compare': {
      const name = writer.quoted(filter.column.name);
      return `(${name} ${OPERATORS[filter.op]} ${writer.value(filter.column, filter.value)})`;
    }
    case 'in':
      return `(${writer.list(filter)})`;
    case 'null':
      return `(${writer.quoted(filter.column.name)} IS ${filter.negated ? 'NOT NULL' : 'NULL'})`;
    case 'text':
      return filter.op === 'startsWith' ? startsWithSql(filter, writer) : `(${writer.contains(filter)})`;
    case 'constant':
      return constantSql(writer.quoted(filter.column.name), filter.value);
    default:
      return filter satisfies never;
  }
}

function constantSql(name: string, value: boolean): string {
  return value ? `(${name} IS NOT NULL OR NULL)` : `(${name} IS NULL AND NULL)`;
}

/** A range, which an index serves. */
function startsWithSql({ column, value }: Filter & { readonly kind: 'text' }, writer: FilterWriter): string {
  const name = writer.quoted(column.name);
  const end = endOfPrefix(value);
  const above = `${name} >= ${writer.value(column, value)}`;
  return end === null ? `(${above})` : `(${above} AND ${name} < ${writer.value(column, end)})`;
}
