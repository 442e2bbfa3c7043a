import type { Column } from '#protocol/columns.ts';
import type { Filter } from '#protocol/filter.ts';
import { isJsonObject, parseJson } from '#protocol/json.ts';
import { columnOf } from '#protocol/schema.ts';
import { parseValue, type Value } from '#protocol/values.ts';
import type { Engine } from '../engine.ts';
import type { CallBounds, Row, SortKey, TableTarget } from '../rows.ts';

/** A page of rows in the order of a key. */
export interface KeyPage {
  /** The table in storage form (`storage-form.ts`). */
  readonly target: TableTarget;
  readonly key: readonly Column[];
  /** Columns to read. */
  readonly columns: readonly Column[];
  /** Row before the page; null for the first page. */
  readonly after: Row | null;
  /** Rows to read; absent or null for all. */
  readonly filter?: Filter | null;
  readonly dir: SortKey['dir'];
  readonly limit: number;
  readonly maxBytes: number;
}

export interface KeyRows {
  readonly rows: readonly Row[];
  /** Length of their text. */
  readonly chars: number;
}

export async function readKeyPage(engine: Engine, page: KeyPage, bounds: CallBounds): Promise<KeyRows> {
  const { target, key, columns, after, dir, limit, maxBytes } = page;
  const filter = both(after === null ? null : beyond(key, after), page.filter ?? null);
  const sort = key.map((column) => ({ column: column.name, dir }));
  const fields = columns.map(({ name }) => name);
  const found = await engine.find(target, { filter, fields, sort, limit, offset: 0, maxBytes }, bounds);
  return { rows: rowsOfText(columns, found.rows), chars: found.rows.length };
}

function both(start: Filter | null, filter: Filter | null): Filter | null {
  if (start === null || filter === null) return start ?? filter;
  return { kind: 'and', filters: [start, filter] };
}

export function keyColumnsOf({ table }: TableTarget): readonly Column[] {
  return (table.primaryKey ?? []).map((name) => columnOf(table, name, 'primaryKey'));
}

export function rowsOfText(columns: readonly Column[], text: string): Row[] {
  const json = parseJson(text);
  if (!Array.isArray(json)) throw new Error('a page of rows is no list');
  return json.map((item) => {
    if (!isJsonObject(item)) throw new Error('a row is no object');
    return new Map<string, Value>(
      columns.map((column) => [column.name, parseValue(column, item[column.name] ?? null)]),
    );
  });
}

/**
 * `(k1, k2) > (v1, v2)` as a filter. The condition on the first column alone comes first, so that every engine begins
 * to read the index there.
 */
function beyond(key: readonly Column[], row: Row): Filter {
  const [column, ...rest] = key;
  if (column === undefined) throw new Error('rows are read in the order of no key');
  const value = row.get(column.name) ?? null;
  if (rest.length === 0) return { kind: 'compare', column, op: 'gt', value };
  return {
    kind: 'and',
    filters: [
      { kind: 'compare', column, op: 'gte', value },
      {
        kind: 'or',
        filters: [
          { kind: 'compare', column, op: 'gt', value },
          { kind: 'and', filters: [{ kind: 'compare', column, op: 'eq', value }, beyond(rest, row)] },
        ],
      },
    ],
  };
}
