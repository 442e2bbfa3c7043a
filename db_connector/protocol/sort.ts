import { COLUMN_TYPES } from './columns.ts';
import { ApiError } from './errors.ts';
import { isJsonObject, type Json } from './json-value.ts';
import { namedColumn } from './schema.ts';
import type { Table } from './schema-types.ts';
import { kindOf } from './value-fault.ts';

export interface SortKey {
  readonly column: string;
  readonly dir: 'asc' | 'desc';
}

/** Throws `invalid_sort` or `unknown_column`. An empty list sorts by nothing. */
export function parseSort(json: Json, table: Table, path = 'sort'): SortKey[] {
  if (!Array.isArray(json)) throw sortFault(path, `expected an array, got ${kindOf(json)}`);
  const keys: SortKey[] = [];
  for (const [i, item] of json.entries()) {
    const key = parseKey(item, table, `${path}[${i}]`);
    if (keys.some((earlier) => earlier.column === key.column)) {
      throw sortFault(`${path}[${i}].field`, `${key.column} stands twice`);
    }
    keys.push(key);
  }
  return keys;
}

function parseKey(json: Json, table: Table, path: string): SortKey {
  if (!isJsonObject(json)) throw sortFault(path, `expected an object, got ${kindOf(json)}`);
  const { field } = json;
  if (typeof field !== 'string') throw sortFault(`${path}.field`, `expected a column, got ${kindOf(field)}`);
  const dir = json.dir ?? 'asc';
  if (dir !== 'asc' && dir !== 'desc') throw sortFault(`${path}.dir`, 'expected asc or desc');
  const column = namedColumn(table, field, `${path}.field`);
  if (!COLUMN_TYPES[column.type].isSortable) {
    throw sortFault(`${path}.field`, `a column of type ${column.type} cannot be sorted`);
  }
  return { column: column.name, dir };
}

function sortFault(path: string, reason: string): ApiError {
  return new ApiError('invalid_sort', `${path}: ${reason}`);
}
