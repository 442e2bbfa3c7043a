import { type Collection, type Db, Long } from 'mongodb';
import type { DeadLetter, PastPlace, QueueRow } from '#engine/queues.ts';
import type { ApiErrorCode } from '#protocol/errors.ts';

/** `_journals`: a document for each namespace and journal, never deleted. */
export interface QueueDocument {
  readonly _id: string;
  readonly namespace: string;
  readonly journal: string;
  readonly token: Long;
  readonly position: Long;
  readonly past: readonly PlaceDocument[];
  /** Finished operations of the next entry, if it is a batch that is not atomic. */
  readonly parts?: number;
  /** When the position was moved last, by the clock of the database. */
  readonly writtenAt?: Date;
}

interface PlaceDocument {
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
  /** Entry that tries the letter again: the others, of other sidecars, pass it by. */
  readonly takenBy?: string;
}

export function queuesOf(db: Db): Collection<QueueDocument> {
  return db.collection('_journals');
}

export function lettersOf(db: Db): Collection<LetterDocument> {
  return db.collection('_dead_letters');
}

export function queueId({ namespace, journal }: Pick<QueueRow, 'namespace' | 'journal'>): string {
  return `${namespace}/${journal}`;
}

export function rowOf({ namespace, journal, token, position, past }: QueueDocument): QueueRow {
  return { namespace, journal, token: Number(token), position: Number(position), past: past.map(placeOf) };
}

function placeOf({ token, position }: PlaceDocument): PastPlace {
  return { token: Number(token), position: Number(position) };
}

export function queueDocument(row: QueueRow): QueueDocument {
  const { namespace, journal, past } = row;
  return { _id: queueId(row), namespace, journal, ...placeDocument(row), past: past.map(placeDocument) };
}

function placeDocument({ token, position }: PastPlace): PlaceDocument {
  return { token: Long.fromNumber(token), position: Long.fromNumber(position) };
}

export function letterOf({ _id, time, ...about }: LetterDocument): DeadLetter {
  const { namespace, kid, op, payload, code, message, isRetryWanted } = about;
  return { id: _id, namespace, kid, op, payload, code, message, time: Number(time), isRetryWanted };
}

export function letterDocument({ id, time, ...about }: DeadLetter): LetterDocument {
  return { _id: id, ...about, time: Long.fromNumber(time) };
}
