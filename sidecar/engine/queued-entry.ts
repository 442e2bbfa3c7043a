import type { ApiError } from '#protocol/errors.ts';
import type { TableTarget, Write } from './rows.ts';

/** One acknowledged write, as the database needs it. */
export interface QueuedEntry {
  readonly position: number;
  /** Of the dead letter that the entry becomes if it can never succeed; unique over all journals. */
  readonly letterId: string;
  /**
   * The entry is another attempt at the dead letter of that id, which goes with it; where the letter is gone (discarded,
   * or attempted already) the entry is passed by.
   */
  readonly isRetry: boolean;
  readonly kid: string;
  readonly op: string;
  /** JSON text of the payload. */
  readonly payload: string;
  /** Epoch milliseconds at which it was acknowledged. */
  readonly time: number;
  /**
   * Compiled for the stored schema, or why it can never be done. The database gets only batches that are atomic: of others
   * it gets the operations (`partsOf`).
   */
  readonly work: QueuedWork | QueuedBatch | ApiError;
  readonly part?: PartPlace;
}

export interface QueuedWork {
  readonly target: TableTarget;
  readonly write: Write;
}

/** One operation of a batch that is queued. */
export interface BatchPart {
  readonly op: string;
  /** JSON text of the payload that it would have alone. Only asked for where it becomes a dead letter. */
  payload(): string;
  /** Rows that its payload brings. */
  readonly rows: number;
  /** An error only where the batch is not atomic. */
  readonly work: QueuedWork | ApiError;
}

/** A batch as one entry (contract section 11). */
export interface QueuedBatch {
  readonly isAtomic: boolean;
  readonly parts: readonly BatchPart[];
}

/** Where an entry stands in the batch that it is an operation of; all of them have the batch's position. */
export interface PartPlace {
  /** From 0. */
  readonly index: number;
  readonly isLast: boolean;
  /** The rows, at least one each, of the operations before it: what it does has a number of its own among theirs. */
  readonly rowsBefore: number;
  /** Letter id of the whole batch: that of which it is a retry, if it is one. */
  readonly batchId: string;
}
