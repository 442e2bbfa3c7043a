import type { QueuedBatch, QueuedWork } from '../engine/queues.ts';
import type { IdempotencySlot } from '../engine/rows.ts';
import type { WriteName } from './write-of.ts';

/** A write of a buffered namespace that passed every check that needs no database. */
export interface AcceptedWrite {
  readonly namespace: string;
  readonly kid: string;
  readonly op: WriteName | 'batch';
  /** JSON text of the payload as the caller signed it. */
  readonly payload: string;
  /** The write, compiled for the schema that is known now; compiled again if the schema differs when it is applied. */
  readonly work?: QueuedWork | QueuedBatch;
  readonly slot: IdempotencySlot | null;
}

/** The specification's FlushResult. */
export interface FlushResult {
  readonly flushed: number;
  readonly deadLettered: number;
  readonly remaining: number;
  readonly halted: boolean;
  readonly enabled: boolean;
}

/** The specification's `HealthResult.writeBuffer`, and the number of dead letters. */
export interface WriteBufferHealth {
  readonly enabled: boolean;
  readonly pending: number;
  readonly oldestAgeSeconds: number;
  readonly halted: boolean;
  readonly deadLetters: number;
  /** False while the journal cannot be written. */
  readonly available: boolean;
}

/** The operations' view of write-behind (`sidecar/write-behind/`). Deadlines are `performance.now()` milliseconds. */
export interface WriteQueue {
  /** Whether writes of the namespace are queued. */
  isBuffered(namespace: string): boolean;
  /** Whether live writes and syncs drain first: the namespace is buffered, or it no longer is and its writes still wait. */
  mustDrain(namespace: string): boolean;
  /** Whether reads drain first. Also if the namespace is no longer listed and its writes still wait. */
  hasConsistentReads(namespace: string): boolean;
  /** Epoch milliseconds since when this journal owns the queue: keyed writes before it are known to the database alone. */
  ownedSince(namespace: string): number;

  /** Resolves with the JSON text of the QueuedAck when the write is on disk. @throws ApiError `write_buffer_full`, `write_buffer_unavailable` */
  accept(write: AcceptedWrite): Promise<string>;
  /** The first answer to a key that the queue knows, in every namespace; null if it does not know the key. @throws ApiError `idempotency_conflict` */
  recall(slot: IdempotencySlot): string | null;
  /** Remembers a keyed write of a buffered namespace that ran live, with its result. */
  note(slot: IdempotencySlot, result: string): void;

  /** Resolves when every write acknowledged before is applied or a dead letter. @throws ApiError `write_buffer_halted` */
  drain(namespace: string, deadline: number): Promise<void>;
  /** Drains, and returns the counts; never throws for a database that is away. */
  flush(namespace: string, deadline: number): Promise<FlushResult>;
}
