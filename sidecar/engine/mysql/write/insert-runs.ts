import type { Row, TableTarget } from '../../rows.ts';
import { generatedColumn } from '../../sql/change.ts';
import { rowsAtOnce } from '../write-sql.ts';

/** Rows of one statement: all have a value for the generated column, or none has. */
export interface InsertRun {
  readonly rows: readonly Row[];
  readonly isGenerated: boolean;
}

/** Bytes of the values in one statement: less than the smallest accepted `max_allowed_packet`. */
const MAX_RUN_BYTES = 12 * 1024 * 1024;

/** In order: an explicit id moves the generator for the rows after it. `maxParams`: of one statement. */
export function insertRuns({ table }: TableTarget, rows: readonly Row[], maxParams: number): InsertRun[] {
  const max = rowsAtOnce(table.columns.length, maxParams);
  const generated = generatedColumn(table);
  const runs: { rows: Row[]; isGenerated: boolean; bytes: number }[] = [];
  for (const row of rows) {
    const isGenerated = generated !== null && !row.has(generated.name);
    const bytes = bytesOf(row);
    const last = runs.at(-1);
    const hasRoom = last !== undefined && last.rows.length < max && last.bytes + bytes <= MAX_RUN_BYTES;
    if (hasRoom && last.isGenerated === isGenerated) {
      last.rows.push(row);
      last.bytes += bytes;
    } else runs.push({ rows: [row], isGenerated, bytes });
  }
  return runs;
}

const MAX_UTF8_BYTES = 3;

/** Upper bound; values that are always short do not count. */
function bytesOf(row: Row): number {
  let bytes = 0;
  for (const value of row.values()) {
    if (typeof value === 'string') bytes += value.length * MAX_UTF8_BYTES;
    else if (value instanceof Uint8Array) bytes += value.byteLength;
  }
  return bytes;
}
