import { ApiError, type ApiErrorCode } from '#protocol/errors.ts';
import type { BatchPart, PartPlace, QueuedBatch, QueuedEntry, QueuedWork, SlotClaim } from '../queues.ts';
import type { Row, TableTarget } from '../rows.ts';

/** Codes of writes that can never succeed, also if repeated. All other failures may pass. */
const LASTING: ReadonlySet<ApiErrorCode> = new Set([
  'constraint_violation',
  'invalid_value',
  'value_too_long',
  'missing_value',
  'invalid_request',
  'invalid_filter',
  'filter_required',
  'too_many_rows',
  'unknown_table',
  'unknown_column',
  'namespace_unknown',
  'idempotency_conflict',
  'unsupported_operation',
]);

export function isLasting(error: ApiError): boolean {
  return LASTING.has(error.code);
}

/** Neighbouring entries that are done as one write: inserts into one table go together. */
export interface QueueUnit {
  /** At least one; several only if they are inserts. */
  readonly entries: readonly QueuedEntry[];
  readonly work: QueuedEntry['work'];
}

/** Rows that one statement inserts at most. */
const MAX_UNIT_ROWS = 1000;

/** Whether the work was compiled and can be tried. */
export function isCompiled<Work extends object>(work: Work | ApiError): work is Work {
  return !(work instanceof ApiError);
}

export function unitsOf(entries: readonly QueuedEntry[]): QueueUnit[] {
  const units: QueueUnit[] = [];
  let inserts: { readonly target: TableTarget; readonly entries: QueuedEntry[]; readonly rows: Row[] } | null = null;
  for (const entry of entries) {
    const insert = insertOf(entry);
    if (insert === null) {
      units.push({ entries: [entry], work: entry.work });
      inserts = null;
    } else if (inserts !== null && isSame(inserts.target, insert.target) && fits(inserts.rows, insert.rows)) {
      inserts.entries.push(entry);
      inserts.rows.push(...insert.rows);
    } else {
      inserts = { target: insert.target, entries: [entry], rows: [...insert.rows] };
      units.push({
        entries: inserts.entries,
        work: { target: insert.target, write: { op: 'insert', rows: inserts.rows } },
      });
    }
  }
  return units;
}

function insertOf({ work }: QueuedEntry): { readonly target: TableTarget; readonly rows: readonly Row[] } | null {
  if (!('write' in work) || work.write.op !== 'insert') return null;
  return { target: work.target, rows: work.write.rows };
}

function isSame(a: TableTarget, b: TableTarget): boolean {
  return a === b || (a.namespace === b.namespace && a.revision === b.revision && a.table.name === b.table.name);
}

function fits(rows: readonly Row[], more: readonly Row[]): boolean {
  return rows.length + more.length <= MAX_UNIT_ROWS;
}

/** Digits of the highest index of an operation, so that the letters of a batch sort as its operations. */
const INDEX_DIGITS = 3;

/** Operations of a batch that is not atomic, as entries of their own. They share only their position. */
export function partsOf(entry: QueuedEntry, { parts }: QueuedBatch): QueuedEntry[] {
  let rowsBefore = 0;
  return parts.map((part, index) => {
    const isLast = index === parts.length - 1;
    const place = { index, isLast, rowsBefore, batchId: entry.letterId };
    rowsBefore += Math.max(1, part.rows);
    return new PartEntry(entry, part, place);
  });
}

class PartEntry implements QueuedEntry {
  readonly position: number;
  readonly letterId: string;
  readonly isRetry: boolean;
  readonly kid: string;
  readonly op: string;
  readonly time: number;
  readonly work: QueuedWork | ApiError;
  readonly part: PartPlace;
  readonly claim?: SlotClaim;
  readonly #payload: () => string;

  constructor(
    { position, letterId, isRetry, kid, time, claim }: QueuedEntry,
    { op, payload, work }: BatchPart,
    part: PartPlace,
  ) {
    this.position = position;
    this.letterId = `${letterId}-${String(part.index).padStart(INDEX_DIGITS, '0')}`;
    this.isRetry = isRetry;
    this.kid = kid;
    this.op = op;
    this.time = time;
    this.work = work;
    this.part = part;
    if (claim !== undefined) this.claim = claim;
    this.#payload = payload;
  }

  get payload(): string {
    return this.#payload();
  }
}

/** The same entry with other work. The payload of a part is made only when it is asked for. */
export function withWork(entry: QueuedEntry, work: QueuedEntry['work']): QueuedEntry {
  const { position, letterId, isRetry, kid, op, payload, time, part, claim } = entry;
  const about = { position, letterId, isRetry, kid, op, payload, time, work };
  return { ...about, ...(part && { part }), ...(claim && { claim }) };
}

/** Id of the dead letter that an entry retries. The letter is the proof that nothing of the entry was done. */
export function retriedLetter({ letterId, isRetry, part }: QueuedEntry): string | null {
  return isRetry ? (part?.batchId ?? letterId) : null;
}

/** The writes of an atomic batch, in order. @throws ApiError */
export function worksOf({ parts }: QueuedBatch): QueuedWork[] {
  return parts.map(({ work }) => {
    if (work instanceof ApiError) throw work;
    return work;
  });
}
