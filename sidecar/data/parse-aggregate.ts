import { COLUMN_TYPES, type Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { isColumn } from '#protocol/identifiers.ts';
import { isJsonObject, type Json } from '#protocol/json.ts';
import { countOf, type PayloadOf } from '#protocol/payloads.ts';
import type { Table } from '#protocol/schema.ts';
import { unknownColumn } from '#protocol/unknown-names.ts';
import type { Capabilities } from '../engine/engine.ts';
import type { AggregateQuery, AggregateValue } from '../engine/rows.ts';
import type { DataLimits } from './data-calls.ts';
import { readFilter } from './read-filter.ts';
import { columnAt, columnsOf, type TableColumns } from './table-columns.ts';

type Payload = PayloadOf<'aggregate'>;
type Sort = AggregateQuery['sort'];

/**
 * Without `sort` the order is that of the groups; with it, theirs breaks ties (contract section 11).
 * @throws ApiError `unknown_column`, `invalid_filter`, `invalid_sort`, `invalid_identifier` for the name of a value, and
 *   `invalid_request` for what a type does not allow, a name that is given twice, and an empty request
 */
export function parseAggregate(
  payload: Payload,
  table: Table,
  { capabilities, limits }: { readonly capabilities: Capabilities; readonly limits: DataLimits },
): AggregateQuery {
  const { filter, limit, offset } = payload;
  const columns = columnsOf(table);
  const groupBy = (payload.groupBy ?? []).map((name, i) => groupColumn(columns, name, `groupBy[${i}]`));
  const values = valuesOf(payload, columns);
  if (groupBy.length + values.length === 0) {
    throw new ApiError('invalid_request', 'groupBy, values: expected at least one column or value');
  }
  return {
    filter: readFilter(filter, table, capabilities),
    groupBy,
    values,
    sort: sortOf(payload, columns),
    limit: Math.min(limit === undefined ? limits.maxRows : countOf(limit), limits.maxRows),
    offset: offset === undefined ? 0 : countOf(offset),
    maxBytes: limits.maxAnswerBytes,
  };
}

function groupColumn(columns: TableColumns, name: string, path: string): Column {
  const column = columnAt(columns, name, path);
  if (COLUMN_TYPES[column.type].isGroupable) return column;
  throw new ApiError('invalid_request', `${path}: rows cannot be grouped by a column of type ${column.type}`);
}

function valuesOf({ groupBy = [], values = [] }: Payload, columns: TableColumns): AggregateValue[] {
  const taken = new Set(groupBy);
  return values.map(({ as, fn, field }, i) => {
    const path = `values[${i}]`;
    if (!isColumn(as)) throw new ApiError('invalid_identifier', `${path}.as: not a name that is allowed`);
    if (taken.has(as)) throw new ApiError('invalid_request', `${path}.as: the name ${as} stands twice`);
    taken.add(as);
    if (field === undefined || field === null) {
      if (fn === 'count') return { as, fn, column: null };
      throw new ApiError('invalid_request', `${path}.field: expected a column, which ${fn} needs`);
    }
    const column = columnAt(columns, field, `${path}.field`);
    checkType(column, fn, path);
    return { as, fn, column };
  });
}

function checkType({ type }: Column, fn: AggregateValue['fn'], path: string): void {
  const { isNumeric, isGroupable } = COLUMN_TYPES[type];
  if (fn === 'count' || (fn === 'sum' ? isNumeric : isGroupable)) return;
  throw new ApiError('invalid_request', `${path}.fn: ${fn} takes no column of type ${type}`);
}

/** By names of the answer. */
function sortOf({ sort = [], groupBy = [], values = [] }: Payload, columns: TableColumns): Sort {
  const names = [...groupBy, ...values.map(({ as }) => as)];
  const keys: { output: number; dir: 'asc' | 'desc' }[] = [];
  for (const [i, item] of sort.entries()) {
    const { field, dir } = sortKey(item, `sort[${i}]`);
    const output = names.indexOf(field);
    if (output < 0) {
      if (!columns.byName.has(field)) throw unknownColumn(`sort[${i}].field`, field, [...names, ...columns.names]);
      columnAt(columns, field, `sort[${i}].field`);
      throw sortFault(`sort[${i}].field`, 'expected a column of groupBy or the name of a value');
    }
    if (keys.some((earlier) => earlier.output === output)) throw sortFault(`sort[${i}].field`, `${field} stands twice`);
    keys.push({ output, dir });
  }
  const ties = groupBy.map((_, output) => ({ output, dir: 'asc' as const }));
  return [...keys, ...ties.filter(({ output }) => keys.every((key) => key.output !== output))];
}

function sortKey(json: Json, path: string): { readonly field: string; readonly dir: 'asc' | 'desc' } {
  if (!isJsonObject(json)) throw sortFault(path, 'expected an object');
  const dir = json.dir ?? 'asc';
  if (typeof json.field !== 'string') throw sortFault(`${path}.field`, 'expected a column of groupBy or a value');
  if (dir !== 'asc' && dir !== 'desc') throw sortFault(`${path}.dir`, 'expected asc or desc');
  return { field: json.field, dir };
}

function sortFault(path: string, reason: string): ApiError {
  return new ApiError('invalid_sort', `${path}: ${reason}`);
}
