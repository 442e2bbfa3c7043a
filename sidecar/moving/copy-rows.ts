import type { Engine } from '../engine/engine.ts';
import type { KeyRows } from '../engine/model/key-order.ts';
import type { Row } from '../engine/rows.ts';
import { rowText, summarise } from './checksum.ts';
import { changeBounds, patiently, statementBounds } from './patience.ts';
import { lastRow, type Place, readPages } from './place.ts';
import type { CopyEngines } from './report.ts';

const WRITE_ROWS = 1000;
const WRITE_CHARS = 1_048_576;

/** A place in both databases. */
export interface PlacePair {
  readonly from: Place;
  readonly to: Place;
}

/**
 * Brings all rows of a place over, in key order, so that at every moment the target holds the first ones: what it holds
 * already is compared with the source and kept if it is equal, else deleted.
 */
export async function copyRows(
  engines: CopyEngines,
  { from, to }: PlacePair,
  onRows: (rows: number) => void,
): Promise<void> {
  const start = await commonStart(engines, { from, to }, onRows);
  for await (const rows of inWrites(readPages(engines.from, from, start))) {
    await writePage(engines.to, to, rows);
    onRows(rows.length);
  }
}

/** Each write waits for the disk, so it holds as many pages as fit. */
async function* inWrites(pages: AsyncIterable<KeyRows>): AsyncGenerator<readonly Row[]> {
  let [rows, chars]: [Row[], number] = [[], 0];
  for await (const page of pages) {
    const fits = rows.length + page.rows.length <= WRITE_ROWS && chars + page.chars <= WRITE_CHARS;
    if (!fits && rows.length > 0) {
      yield rows;
      [rows, chars] = [[], 0];
    }
    rows.push(...page.rows);
    chars += page.chars;
  }
  if (rows.length > 0) yield rows;
}

/** The last row that both have, if the target holds the first rows of the source and nothing else; else null. */
async function commonStart(
  engines: CopyEngines,
  { from, to }: PlacePair,
  onRows: (rows: number) => void,
): Promise<Row | null> {
  if ((await lastRow(engines.to, to)) === null) return null;
  const there = await summarise(engines.to, to, () => undefined);
  const here = await summarise(engines.from, from, () => undefined, there.rows);
  if (here.checksum === there.checksum && here.rows === there.rows) {
    onRows(there.rows);
    return here.last;
  }
  await patiently(() => engines.to.write(to.target, { op: 'delete', filter: null }, null, changeBounds()));
  return null;
}

/** After a failure that may pass: what of the page is there is known by the last row of the target. */
async function writePage(engine: Engine, place: Place, rows: readonly Row[]): Promise<void> {
  let left = rows;
  let isFirst = true;
  await patiently(async () => {
    if (!isFirst) left = missing(place, rows, await lastRow(engine, place));
    isFirst = false;
    if (left.length > 0) await engine.write(place.target, { op: 'insert', rows: left }, null, statementBounds());
  });
}

function missing({ key }: Place, rows: readonly Row[], last: Row | null): readonly Row[] {
  if (last === null) return rows;
  const lastKey = rowText(key, last);
  return rows.slice(rows.findIndex((row) => rowText(key, row) === lastKey) + 1);
}
