import type { Engine } from '../engine/engine.ts';
import { readKeyPage } from '../engine/model/key-order.ts';
import type { Row, SortKey } from '../engine/rows.ts';
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
  const [row] = await find(engine, place, null, 'desc', 1);
  return row ?? null;
}

function readPage(engine: Engine, place: Place, after: Row | null): Promise<readonly Row[]> {
  return find(engine, place, after, 'asc', PAGE_ROWS);
}

function find(
  engine: Engine,
  { target, key }: Place,
  after: Row | null,
  dir: SortKey['dir'],
  limit: number,
): Promise<readonly Row[]> {
  const page = { target, key, columns: target.table.columns, after, dir, limit, maxBytes: PAGE_BYTES };
  return patiently(() => readKeyPage(engine, page, statementBounds()));
}
