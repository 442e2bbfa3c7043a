import { ApiError } from '#protocol/errors.ts';
import type { BatchPart, PartPlace, QueuedBatch, QueuedEntry, QueuedWork } from '../queues.ts';

/** Digits of the highest index of an operation, so that letters of one batch sort as its operations do. */
const INDEX_DIGITS = 3;

/** Operations that are each for itself, as entries of their own: nothing holds them together but their position. */
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
  readonly #payload: () => string;

  constructor(
    { position, letterId, isRetry, kid, time }: QueuedEntry,
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
    this.#payload = payload;
  }

  get payload(): string {
    return this.#payload();
  }
}

/** The dead letter that an entry is another attempt at: it is the proof that nothing of it was done. */
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
