import type { Filter } from '../../db_connector/protocol/filter.ts';
import { isJsonObject, parseJson } from '../../db_connector/protocol/json.ts';
import type { Column } from '../../db_connector/protocol/schema.ts';
import { parseValue, type Value } from '../columns/value.ts';
import type { Engine, Row } from '../engine/engine.ts';
import { patiently, statementBounds } from './patience.ts';
import type { Place } from './place.ts';

const PAGE_ROWS = 1000;
const PAGE_BYTES = 4_194_304;

/** The rows of a place in key order, from after `start` (null: from the first), page by page; the next one is under way already. */
export async function* readPages(engine: Engine, place: Place, start: Row | null): AsyncGenerator<readonly Row[]> {
  let next: Promise<readonly Row[]> | null = readPage(engine, place, start);
  try {
    while (next !== null) {
      const rows: readonly Row[] = await next;
      const last = rows.at(-1);
      next = last === undefined ? null : readPage(engine, place, last);
      if (rows.length > 0) yield rows;
    }
  } finally {
    // Whoever leaves early does not wait for what was asked ahead, and does not hear of its failure.
    next?.catch(() => undefined);
  }
}

/** Null where the place is empty. */
export async function lastRow(engine: Engine, place: Place): Promise<Row | null> {
  const sort = place.key.map((column) => ({ column: column.name, dir: 'desc' as const }));
  const [row] = await find(engine, place, null, sort, 1);
  return row ?? null;
}

function readPage(engine: Engine, place: Place, after: Row | null): Promise<readonly Row[]> {
  const sort = place.key.map((column) => ({ column: column.name, dir: 'asc' as const }));
  return find(engine, place, after === null ? null : beyond(place.key, after), sort, PAGE_ROWS);
}

async function find(
  engine: Engine,
  { target }: Place,
  filter: Filter | null,
  sort: readonly { readonly column: string; readonly dir: 'asc' | 'desc' }[],
  limit: number,
): Promise<readonly Row[]> {
  const { columns } = target.table;
  const fields = columns.map((column) => column.name);
  const query = { filter, fields, sort, limit, offset: 0, maxBytes: PAGE_BYTES };
  const page = await patiently(() => engine.find(target, query, statementBounds()));
  return rowsOf(columns, page.rows);
}

function rowsOf(columns: readonly Column[], text: string): Row[] {
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
 * `(k1, k2) > (v1, v2)` in the words of a filter. The condition on the first column alone stands before the rest, so
 * that every engine begins to read the index there.
 */
function beyond(key: readonly Column[], row: Row): Filter {
  const [column, ...rest] = key;
  if (column === undefined) throw new Error('a place has no key');
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
