import { ApiError } from '#protocol/errors.ts';
import type { Row, TableTarget } from '../rows.ts';
import { generatedColumn, givenIds, insertResult } from '../sql/change.ts';
import type { Session, SqlResult } from '../sql/session.ts';
import { duplicateKey, errnoOf, GENERATOR_AT_END } from './failures.ts';
import { explained } from './send-statement.ts';
import { compileInsert, MAX_PARAMS, rowsAtOnce } from './write-sql.ts';

/** How a write is run: as one statement that commits by itself, or in a transaction because it takes several. */
export interface WritePlan {
  readonly needsTransaction: boolean;
  /** JSON text of the result. */
  run(session: Session): Promise<string>;
}

/** Rows of one statement: all bring along the generated column, or none. */
interface Run {
  readonly rows: readonly Row[];
  readonly isGenerated: boolean;
}

/** `maxParams` of a statement: fewer are kept prepared, which takes several statements and a transaction. */
export function planInsert(target: TableTarget, rows: readonly Row[], maxParams = MAX_PARAMS): WritePlan {
  const runs = runsOf(target, rows, rowsAtOnce(target.table.columns.length, maxParams));
  const isCounted = generatedColumn(target.table) !== null;
  const run = async (session: Session): Promise<string> => {
    const ids: string[] = [];
    for (const part of runs) ids.push(...(await insertRun(session, target, part, isCounted)));
    return insertResult(rows.length, ids);
  };
  return { needsTransaction: runs.length > 1, run };
}

/** Of the values in one statement, which the server takes at once: the least that `max_allowed_packet` may be is more. */
const MAX_RUN_BYTES = 12 * 1024 * 1024;

/** In order: an explicit id moves the generator for the rows after it. */
function runsOf({ table }: TableTarget, rows: readonly Row[], max: number): Run[] {
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

/** At most; what is short in any case does not count. */
function bytesOf(row: Row): number {
  let bytes = 0;
  for (const value of row.values()) {
    if (typeof value === 'string') bytes += value.length * MAX_UTF8_BYTES;
    else if (value instanceof Uint8Array) bytes += value.byteLength;
  }
  return bytes;
}

/** JSON texts of the ids. Those that one statement generates follow one another (`auto_increment_increment` is 1). */
async function insertRun(
  session: Session,
  target: TableTarget,
  { rows, isGenerated }: Run,
  isCounted: boolean,
): Promise<string[]> {
  const { insertId } = await insertRows(session, target, rows, isGenerated);
  if (!isCounted || !isGenerated) return givenIds(target.table, rows);
  const first = insertId ?? 0n;
  return rows.map((_, position) => String(first + BigInt(position)));
}

export async function insertRows(
  session: Session,
  target: TableTarget,
  rows: readonly Row[],
  isGenerated: boolean,
): Promise<SqlResult> {
  const { sql, params } = compileInsert(target, rows);
  try {
    return await session.prepared(sql, params);
  } catch (error) {
    if (isGenerated && isGeneratorAtEnd(error)) {
      throw new ApiError(
        'constraint_violation',
        'the generator of the primary key is at its end; nothing was inserted',
      );
    }
    return explained(session, target, error);
  }
}

/** Values were checked before, so only the generated one can be out of range, or stand already when it cannot grow. */
function isGeneratorAtEnd(error: unknown): boolean {
  const errno = errnoOf(error);
  return (errno !== null && GENERATOR_AT_END.has(errno)) || duplicateKey(error) === 'PRIMARY';
}
