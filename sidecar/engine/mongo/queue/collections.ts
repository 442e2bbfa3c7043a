import { type Collection, type Db, Long } from 'mongodb';
import type { DeadLetter, PastOwner, QueueRow } from '#engine/queues.ts';
import type { ApiErrorCode } from '#protocol/errors.ts';

/** `_queues`: a document for each namespace, never deleted. */
export interface QueueDocument {
  readonly _id: string;
  readonly journal: string | null;
  readonly token: Long;
  readonly position: Long;
  readonly past: readonly PastDocument[];
  /** Finished operations of the next entry, if it is a batch that is not atomic. */
  readonly parts?: number;
}

interface PastDocument {
  readonly journal: string;
  readonly token: Long;
  readonly position: Long;
}

/** `_dead_letters`: a document for each write that can never succeed. */
export interface LetterDocument {
  readonly _id: string;
  readonly namespace: string;
  readonly kid: string;
  readonly op: string;
  /** JSON text. */
  readonly payload: string;
  readonly code: ApiErrorCode;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly time: Long;
  readonly isRetryWanted: boolean;
}

export function queuesOf(db: Db): Collection<QueueDocument> {
  return db.collection('_queues');
}

export function lettersOf(db: Db): Collection<LetterDocument> {
  return db.collection('_dead_letters');
}

export function rowOf({ _id, journal, token, position, past }: QueueDocument): QueueRow {
  return { namespace: _id, journal, token: Number(token), position: Number(position), past: past.map(pastOf) };
}

function pastOf({ journal, token, position }: PastDocument): PastOwner {
  return { journal, token: Number(token), position: Number(position) };
}

export function queueDocument({ namespace, journal, token, position, past }: QueueRow): QueueDocument {
  return {
    _id: namespace,
    journal,
    token: Long.fromNumber(token),
    position: Long.fromNumber(position),
    past: past.map(pastDocument),
  };
}

function pastDocument({ journal, token, position }: PastOwner): PastDocument {
  return { journal, token: Long.fromNumber(token), position: Long.fromNumber(position) };
}

export function letterOf({ _id, time, ...about }: LetterDocument): DeadLetter {
  const { namespace, kid, op, payload, code, message, isRetryWanted } = about;
  return { id: _id, namespace, kid, op, payload, code, message, time: Number(time), isRetryWanted };
}

export function letterDocument({ id, time, ...about }: DeadLetter): LetterDocument {
  return { _id: id, ...about, time: Long.fromNumber(time) };
}
