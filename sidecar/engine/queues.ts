import type { ApiError, ApiErrorCode } from '#protocol/errors.ts';
import type { CallBounds, TableTarget, Write } from './rows.ts';

/**
 * Who applies the queue of a namespace, and how far it is (`_queues`; contract section 7). The row belongs to a journal,
 * not to a process: a sidecar that starts again with its journal goes on.
 */
export interface QueueRow {
  readonly namespace: string;
  /** Id of the owner's journal; null where the last owner gave it up. */
  readonly journal: string | null;
  /** Fencing token: grows by one with every new owner, from 1. */
  readonly token: number;
  /** Position of the last entry applied under this token; 0 for none. Positions grow within a journal. */
  readonly position: number;
  /**
   * How far earlier owners came, oldest first, the newest `MAX_PAST_OWNERS`: a journal that has lost the queue learns
   * from it which of its entries were applied before, so that none becomes a dead letter as well.
   */
  readonly past: readonly PastOwner[];
}

export interface PastOwner {
  readonly journal: string;
  readonly token: number;
  readonly position: number;
}

export const MAX_PAST_OWNERS = 32;

export interface QueueOwner {
  readonly namespace: string;
  readonly journal: string;
  readonly token: number;
}

export interface QueueBatch extends QueueOwner {
  /** At least one, in the order of their positions. */
  readonly entries: readonly QueuedEntry[];
  /** The caller has tried nothing beyond it: a queue that is further was moved by somebody else with the same journal. */
  readonly knownTo?: number;
}

/** A write that can never succeed (`_dead_letters`). */
export interface DeadLetter {
  readonly id: string;
  readonly namespace: string;
  readonly kid: string;
  readonly op: string;
  /** JSON text. */
  readonly payload: string;
  readonly code: ApiErrorCode;
  readonly message: string;
  /** Epoch milliseconds at which the write was acknowledged. */
  readonly time: number;
  /** Somebody asked for another attempt; the owner of the queue puts it at its end. */
  readonly isRetryWanted: boolean;
}

/** The queue has another owner by now. Nothing was applied. */
export class QueueLostError extends Error {
  readonly namespace: string;

  constructor(namespace: string) {
    super(`the queue of ${namespace} has another owner`);
    this.name = 'QueueLostError';
    this.namespace = namespace;
  }
}

/** The queue is further than its owner can have come: another sidecar has a copy of the journal. Nothing was applied. */
export class QueueMovedError extends QueueLostError {}

/** What write-behind needs of a database. Failures are those of `Engine`, and `QueueLostError`. */
export interface QueueCalls {
  readQueue(namespace: string, bounds: CallBounds): Promise<QueueRow | null>;
  /** Makes the journal the owner where nobody is (a new token, position 0); the row as it is then, maybe another's. */
  claimQueue(namespace: string, journal: string, bounds: CallBounds): Promise<QueueRow>;
  /** Makes the journal the owner, whoever is: a new token, position 0. Of its own row nothing changes. */
  takeOverQueue(namespace: string, journal: string, bounds: CallBounds): Promise<QueueRow>;
  /** Gives the queue up if journal and token still own it; the row stays, so that tokens never come again. */
  releaseQueue(owner: QueueOwner, bounds: CallBounds): Promise<void>;

  /**
   * Applies the entries in order and moves the position to the last one, in one transaction where the engine has them;
   * else step by step, so that the next attempt goes on after a crash at any point and nothing is done twice. Entries at
   * or below the stored position are passed by: an attempt whose outcome nobody knew has applied them. One that can
   * never succeed becomes a dead letter, and those after it are applied. Resolves with the letters made; durable then.
   * @throws QueueLostError, QueueMovedError, StaleSchemaError, and ApiError of what may pass (`database_error`, `database_timeout`,
   * `conflict_retry`): nothing was applied, or on an engine without transactions a beginning
   */
  applyQueue(batch: QueueBatch, bounds: CallBounds): Promise<readonly DeadLetter[]>;

  /** Oldest first, at most `limit`, by default all of them; null for every namespace. */
  listLetters(namespace: string | null, bounds: CallBounds, limit?: number): Promise<DeadLetter[]>;
  countLetters(bounds: CallBounds): Promise<number>;
  /** Those with `isRetryWanted`, oldest first, at most `limit`. */
  lettersToRetry(namespace: string, limit: number, bounds: CallBounds): Promise<DeadLetter[]>;
  /** False where there is no such letter. */
  wantRetry(id: string, bounds: CallBounds): Promise<boolean>;
  /** False where there is no such letter. */
  discardLetter(id: string, bounds: CallBounds): Promise<boolean>;
  /** Adds what a journal holds that has lost its queue; a letter that is there already stays as it is. */
  addLetters(letters: readonly DeadLetter[], bounds: CallBounds): Promise<void>;
  /**
   * Adds what a journal accepted as `owner`, and never applied before it lost the queue. How far the past owner came moves
   * with it, in one transaction where the engine has them: what was buried once does not come back as a letter when the
   * new owner has dealt with it meanwhile.
   */
  buryOrphans(owner: QueueOwner, orphans: readonly Orphan[], bounds: CallBounds): Promise<void>;
}

export interface Orphan {
  readonly position: number;
  readonly letter: DeadLetter;
}

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
