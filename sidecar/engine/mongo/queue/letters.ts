import type { Document, Filter } from 'mongodb';
import type { DeadLetter } from '#engine/queues.ts';
import type { MongoSession } from '../session.ts';
import { type LetterDocument, letterDocument, letterOf, lettersOf } from './collections.ts';

const OLDEST_FIRST = { time: 1, _id: 1 } as const;

export async function listLetters(session: MongoSession, namespace: string | null, limit = 0): Promise<DeadLetter[]> {
  return found(session, namespace === null ? {} : { namespace }, limit);
}

export async function lettersToRetry(session: MongoSession, namespace: string, limit: number): Promise<DeadLetter[]> {
  return limit < 1 ? [] : found(session, { namespace, isRetryWanted: true }, limit);
}

async function found(session: MongoSession, selection: Document, limit = 0): Promise<DeadLetter[]> {
  const documents = await session.look((db, time) =>
    lettersOf(db)
      .find(selection, { limit, allowDiskUse: true, ...time })
      .sort(OLDEST_FIRST)
      .toArray(),
  );
  return documents.map(letterOf);
}

/** Long counts come back as objects. */
export async function countLetters(session: MongoSession): Promise<number> {
  return Number(await session.look((db, time) => lettersOf(db).countDocuments({}, time)));
}

export async function wantRetry(session: MongoSession, id: string): Promise<boolean> {
  const want = { $set: { isRetryWanted: true } };
  const { matchedCount } = await session.send((db, time) => lettersOf(db).updateOne({ _id: id }, want, time));
  return matchedCount > 0;
}

export async function discardLetter(session: MongoSession, id: string): Promise<boolean> {
  const { deletedCount } = await session.send((db, time) => lettersOf(db).deleteOne({ _id: id }, time));
  return deletedCount > 0;
}

export async function discardLetters(session: MongoSession, ids: readonly string[]): Promise<void> {
  await session.send((db, time) => lettersOf(db).deleteMany({ _id: { $in: ids } }, time));
}

/** True if the letter is there, and the entry is the one that tries it again. */
export async function takeLetter(session: MongoSession, id: string, entry: string): Promise<boolean> {
  const isFree = { _id: id, takenBy: { $in: [null, entry] } } as Filter<LetterDocument>;
  const { matchedCount } = await session.send((db, time) =>
    lettersOf(db).updateOne(isFree, { $set: { takenBy: entry } }, time),
  );
  return matchedCount > 0;
}

/** A letter that exists stays as it is. */
export async function addLetters(session: MongoSession, letters: readonly DeadLetter[]): Promise<void> {
  for (const letter of letters) {
    const { _id, ...fields } = letterDocument(letter);
    await session.send((db, time) =>
      lettersOf(db).updateOne({ _id }, { $setOnInsert: fields }, { upsert: true, ...time }),
    );
  }
}

/** Stores the letter of a write that has failed, for the first time or again. */
export async function putLetter(session: MongoSession, letter: DeadLetter): Promise<void> {
  const { _id, ...fields } = letterDocument(letter);
  await session.send((db, time) => lettersOf(db).replaceOne({ _id }, fields, { upsert: true, ...time }));
}
