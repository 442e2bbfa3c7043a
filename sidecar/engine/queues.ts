import type { ApiError, ApiErrorCode } from '#protocol/errors.ts';
import type { CallBounds, IdempotencySlot, TableTarget, Write } from './rows.ts';

/**
 * Place of a journal in a namespace (`_journals`; contract section 7): how far its queued writes are applied. Each sidecar
 * that buffers the namespace has its own row, and they do not wait for each other. The row is never deleted: a sidecar
 * that starts again with its journal goes on.
 */
export interface QueueRow {
  readonly namespace: string;
  readonly journal: string;
  /** Fencing token, from 1: grows when rows of a backup or of another database come, so that older entries are not applied to them. */
  readonly token: number;
  /** Position of the last entry applied under this token; 0 for none. Positions grow within a journal. */
  readonly position: number;
  /**
   * Places under earlier tokens, oldest first, the newest `MAX_PAST_PLACES`. The journal reads from them which of its
   * entries were applied, so that no applied entry becomes a dead letter.
   */
  readonly past: readonly PastPlace[];
}

export interface PastPlace {
  readonly token: number;
  readonly position: number;
}

export const MAX_PAST_PLACES = 32;

export interface ListedQueue extends QueueRow {
  /** Milliseconds since an entry of the journal was applied last, by the clock of the database alone; null for never. */
  readonly writtenMsAgo: number | null;
}

export interface QueueOwner {
  readonly namespace: string;
  readonly journal: string;
  readonly token: number;
}

export interface QueueBatch extends QueueOwner {
  /** At least one, in the order of their positions. */
  readonly entries: readonly QueuedEntry[];
  /**
   * Position up to which the caller has tried entries. A queue that is further was moved by another sidecar with the
   * same journal.
   */
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
  /** Another attempt was asked for; a sidecar that buffers the namespace puts the write at the end of its queue. */
  readonly isRetryWanted: boolean;
}

/** The database has no such place: it was restored, or is another one. Nothing was applied. */
export class QueueLostError extends Error {
  readonly namespace: string;

  constructor(namespace: string) {
    super(`the place of the journal in namespace ${namespace} has changed`);
    this.name = 'QueueLostError';
    this.namespace = namespace;
  }
}

/** The queue is further than its journal can have come: another sidecar has a copy of the journal. Nothing was applied. */
export class QueueMovedError extends QueueLostError {}

/** Calls of write-behind. Failures are those of `Engine`, and `QueueLostError`. */
export interface QueueCalls {
  readQueue(namespace: string, journal: string, bounds: CallBounds): Promise<QueueRow | null>;
  /** Sorted by namespace and journal; null means every namespace. */
  listQueues(namespace: string | null, bounds: CallBounds): Promise<ListedQueue[]>;
  /** Makes the journal's row if it is missing (token 1, position 0). Resolves with the row. */
  claimQueue(namespace: string, journal: string, bounds: CallBounds): Promise<QueueRow>;

  /**
   * Applies the entries in order and moves the position to the last one, in one transaction if the engine has them;
   * else step by step, so that the next attempt goes on after a crash at any point and nothing is done twice. Skips
   * entries at or below the stored position: an attempt with an unknown outcome has applied them. An entry that can
   * never succeed becomes a dead letter, and the entries after it are applied. Resolves with the new dead letters,
   * which are durable then.
   * @throws QueueLostError, QueueMovedError, StaleSchemaError, and ApiError for a failure that may pass
   * (`database_error`, `database_timeout`, `conflict_retry`): nothing was applied, or only the first entries on an
   * engine without transactions
   */
  applyQueue(batch: QueueBatch, bounds: CallBounds): Promise<readonly DeadLetter[]>;

  /** Oldest first, at most `limit`, by default all; null means every namespace. */
  listLetters(namespace: string | null, bounds: CallBounds, limit?: number): Promise<DeadLetter[]>;
  countLetters(bounds: CallBounds): Promise<number>;
  /** Letters with `isRetryWanted`, oldest first, at most `limit`. Several sidecars may try one again; one attempt counts. */
  lettersToRetry(namespace: string, limit: number, bounds: CallBounds): Promise<DeadLetter[]>;
  /** False if there is no such letter. */
  wantRetry(id: string, bounds: CallBounds): Promise<boolean>;
  /** False if there is no such letter. */
  discardLetter(id: string, bounds: CallBounds): Promise<boolean>;
  /** A letter that exists stays as it is. */
  addLetters(letters: readonly DeadLetter[], bounds: CallBounds): Promise<void>;
  /**
   * Adds entries that a journal accepted under an older token and did not apply. The past place moves with them, in one
   * transaction if the engine has them: a buried entry does not come back as a letter after it was dealt with.
   */
  buryOrphans(owner: QueueOwner, orphans: readonly Orphan[], bounds: CallBounds): Promise<void>;
}

export interface Orphan {
  readonly position: number;
  readonly letter: DeadLetter;
}

/** An acknowledged write, as the database needs it. */
export interface QueuedEntry {
  readonly position: number;
  /** Id of the dead letter that the entry becomes if it can never succeed; unique over all journals. */
  readonly letterId: string;
  /**
   * The entry is another attempt at the dead letter of that id, which is deleted with it. If the letter is gone
   * (discarded, or attempted already) the entry is skipped.
   */
  readonly isRetry: boolean;
  readonly kid: string;
  readonly op: string;
  /** JSON text of the payload. */
  readonly payload: string;
  /** Epoch milliseconds at which it was acknowledged. */
  readonly time: number;
  /**
   * Compiled for the stored schema, or the error why it can never be done. The database receives only atomic batches:
   * of other batches it receives the operations (`partsOf`).
   */
  readonly work: QueuedWork | QueuedBatch | ApiError;
  readonly part?: PartPlace;
  /** Idempotency key that the write came with, if it had one. */
  readonly claim?: SlotClaim;
}

/**
 * The idempotency slot that an entry takes in the transaction that applies it. If a live write, or the queue of another
 * sidecar, has it, the entry counts as done. Without transactions the slot is taken first: an acknowledged write that has
 * it will be done.
 */
export interface SlotClaim {
  readonly slot: IdempotencySlot;
  /** Text of the acknowledgement, which is the result of the key; names the entry. */
  readonly answer: string;
}

export interface QueuedWork {
  readonly target: TableTarget;
  readonly write: Write;
}

/** An operation of a queued batch. */
export interface BatchPart {
  readonly op: string;
  /** JSON text of the payload that it would have alone. Called only if it becomes a dead letter. */
  payload(): string;
  /** Rows in its payload. */
  readonly rows: number;
  /** An error only if the batch is not atomic. */
  readonly work: QueuedWork | ApiError;
}

/** A batch as one entry (contract section 11). */
export interface QueuedBatch {
  readonly isAtomic: boolean;
  readonly parts: readonly BatchPart[];
}

/** Place of an entry in the batch that it is an operation of. All entries of a batch have its position. */
export interface PartPlace {
  /** From 0. */
  readonly index: number;
  readonly isLast: boolean;
  /** Rows of the operations before it, at least one each: numbers its own rows among them. */
  readonly rowsBefore: number;
  /** Letter id of the whole batch; of a retry, the id of the letter that is retried. */
  readonly batchId: string;
}
