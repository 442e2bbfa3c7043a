import { createHash } from 'node:crypto';
import type { Column } from '#protocol/schema.ts';
import { writeValue } from '#protocol/values.ts';
import type { Engine } from '../engine/engine.ts';
import type { Row } from '../engine/rows.ts';
import { type Place, readPages } from './place.ts';

export interface RowsSummary {
  readonly rows: number;
  /** 16 hex digits; equal for equal rows in equal order, on every engine. */
  readonly checksum: string;
}

const SHOWN_DIGITS = 16;

/**
 * SHA-256 over the logical values of rows in key order, which is the order of insertion if a table has no key: each row
 * as its column values in JSON, as the API returns them, and a line feed.
 */
export class RowsSum {
  readonly #columns: readonly Column[];
  readonly #hash = createHash('sha256');
  #rows = 0;

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
  }

  get rows(): number {
    return this.#rows;
  }

  add(rows: readonly Row[]): void {
    let text = '';
    for (const row of rows) text += `${rowText(this.#columns, row)}\n`;
    this.#hash.update(text);
    this.#rows += rows.length;
  }

  summary(): RowsSummary {
    return { rows: this.#rows, checksum: this.#hash.copy().digest('hex').slice(0, SHOWN_DIGITS) };
  }
}

/** Reads the place from its first row, at most `limit` rows. `onRows` hears of every page. */
export async function summarise(
  engine: Engine,
  place: Place,
  onRows: (rows: number) => void,
  limit = Number.POSITIVE_INFINITY,
): Promise<RowsSummary & { readonly last: Row | null }> {
  const sum = new RowsSum(place.target.table.columns);
  let last: Row | null = null;
  if (limit > 0) {
    for await (const page of readPages(engine, place, null)) {
      const rows = page.rows.slice(0, limit - sum.rows);
      sum.add(rows);
      last = rows.at(-1) ?? last;
      onRows(rows.length);
      if (sum.rows >= limit) break;
    }
  }
  return { ...sum.summary(), last };
}

/** Values of a row as JSON, in the order of the columns. */
export function rowText(columns: readonly Column[], row: Row): string {
  return columns.map((column) => writeValue(column, row.get(column.name) ?? null)).join(',');
}
