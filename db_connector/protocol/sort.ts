import { COLUMN_TYPES, type Column } from './columns.ts';
import { ApiError } from './errors.ts';
import { isJsonObject, type Json } from './json-value.ts';
import { MAX_LONG_SORT_COLUMNS } from './limits.ts';
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
  let longColumns = 0;
  for (const [i, item] of json.entries()) {
    const { column, dir } = parseKey(item, table, `${path}[${i}]`);
    if (keys.some((earlier) => earlier.column === column.name)) {
      throw sortFault(`${path}[${i}].field`, `${column.name} stands twice`);
    }
    if (isLong(column)) longColumns += 1;
    if (longColumns > MAX_LONG_SORT_COLUMNS) {
      throw sortFault(`${path}[${i}].field`, `more than ${MAX_LONG_SORT_COLUMNS} columns of type text and bytes`);
    }
    keys.push({ column: column.name, dir });
  }
  return keys;
}

/** text and bytes: values of any length, which no index holds. */
function isLong({ type }: Column): boolean {
  return !COLUMN_TYPES[type].isIndexable;
}

function parseKey(json: Json, table: Table, path: string): { readonly column: Column; readonly dir: SortKey['dir'] } {
  if (!isJsonObject(json)) throw sortFault(path, `expected an object, got ${kindOf(json)}`);
  const { field } = json;
  if (typeof field !== 'string') throw sortFault(`${path}.field`, `expected a column, got ${kindOf(field)}`);
  const dir = json.dir ?? 'asc';
  if (dir !== 'asc' && dir !== 'desc') throw sortFault(`${path}.dir`, 'expected asc or desc');
  const column = namedColumn(table, field, `${path}.field`);
  if (!COLUMN_TYPES[column.type].isSortable) {
    throw sortFault(`${path}.field`, `a column of type ${column.type} cannot be sorted`);
  }
  return { column, dir };
}

function sortFault(path: string, reason: string): ApiError {
  return new ApiError('invalid_sort', `${path}: ${reason}`);
}
