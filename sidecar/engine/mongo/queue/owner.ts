import { type Document, type Filter, Long } from 'mongodb';
import { burial } from '#engine/model/queue-places.ts';
import type { DeadLetter, ListedQueue, Orphan, QueueOwner, QueueRow } from '#engine/queues.ts';
import { OWNED_MARK_FIELD } from '../documents.ts';
import { failureOf } from '../failures.ts';
import { collectionsOf } from '../schema/store.ts';
import type { MongoSession } from '../session.ts';
import { type QueueDocument, queueDocument, queueId, queuesOf, rowOf } from './collections.ts';
import { addLetters } from './letters.ts';
import { JournalMarks, positionOf } from './marks.ts';

type Journal = Pick<QueueRow, 'namespace' | 'journal'>;

export async function readQueue(session: MongoSession, journal: Journal): Promise<QueueRow | null> {
  return (await readPlace(session, journal))[0];
}

/** Place of a queue: `parts` operations of the entry behind the position are done, too. */
export interface QueuePlace {
  readonly position: number;
  readonly parts: number;
}

/** The row, and the number of finished operations of the next entry. */
export async function readPlace(session: MongoSession, journal: Journal): Promise<readonly [QueueRow | null, number]> {
  const found = await session.look((db, time) => queuesOf(db).findOne({ _id: queueId(journal) }, time));
  return found === null ? [null, 0] : [rowOf(found), found.parts ?? 0];
}

export async function listQueues(session: MongoSession, namespace: string | null): Promise<ListedQueue[]> {
  const ofNamespace = namespace === null ? [] : [{ $match: { namespace } }];
  const age = { $addFields: { age: { $subtract: ['$$NOW', '$writtenAt'] } } };
  const found = await session.look((db, time) =>
    queuesOf(db)
      .aggregate<QueueDocument & { readonly age?: unknown }>([...ofNamespace, age, { $sort: { _id: 1 } }], time)
      .toArray(),
  );
  return found.map(({ age: ms, ...document }) => ({
    ...rowOf(document),
    writtenMsAgo: document.writtenAt === undefined ? null : Math.max(0, Number(ms)),
  }));
}

export async function claimQueue(session: MongoSession, journal: Journal): Promise<QueueRow> {
  for (;;) {
    const known = await readQueue(session, journal);
    if (known !== null) return known;
    const row = { ...journal, token: 1, position: 0, past: [] };
    if (await inserted(session, row)) return row;
  }
}

/** False if another attempt has moved the place, or its token has changed. */
export async function movePlace(
  session: MongoSession,
  owner: QueueOwner,
  from: QueuePlace,
  to: QueuePlace,
): Promise<boolean> {
  const position = Long.fromNumber(from.position);
  const parts = from.parts === 0 ? { $in: [null, 0] } : from.parts;
  const unmoved = { _id: queueId(owner), token: Long.fromNumber(owner.token), position, parts };
  const place = { position: Long.fromNumber(to.position), ...(to.parts === from.parts ? {} : { parts: to.parts }) };
  const moved: Document[] = [{ $set: { ...place, writtenAt: '$$NOW' } }];
  const { matchedCount } = await session.send((db, time) =>
    queuesOf(db).updateOne(unmoved as Filter<QueueDocument>, moved, time),
  );
  return matchedCount > 0;
}

export function isOwner(row: QueueRow | null, { token }: QueueOwner): row is QueueRow {
  return row !== null && row.token === token;
}

/** Names the row that the change was made for, so that a late change finds another row and does nothing. False then. */
async function changed(session: MongoSession, known: QueueRow, next: QueueRow): Promise<boolean> {
  const { _id, token, position, past } = queueDocument(known);
  const { token: nextToken, position: nextPosition, past: nextPast } = queueDocument(next);
  const change = { $set: { token: nextToken, position: nextPosition, past: nextPast } };
  const { matchedCount } = await session.send((db, time) =>
    queuesOf(db).updateOne({ _id, token, position, past }, change, time),
  );
  return matchedCount > 0;
}

async function inserted(session: MongoSession, row: QueueRow): Promise<boolean> {
  try {
    await session.send((db, time) => queuesOf(db).insertOne(queueDocument(row), time));
    return true;
  } catch (error) {
    if (failureOf(error).kind === 'duplicate') return false;
    throw error;
  }
}

const MAYBE_DONE = '; it had begun by then: look what of it is there before you try it again';

/**
 * Letters first: two letters are worse than one, but better than a lost entry. The place may have been fenced in the
 * middle of a step, which the position does not show: letters of entries that were begun say so.
 */
export async function buryOrphans(session: MongoSession, owner: QueueOwner, orphans: readonly Orphan[]): Promise<void> {
  const positions = orphans.map(({ position }) => position);
  const begun = await begunOf(session, owner, positions);
  const told = orphans.map((orphan) =>
    begun.has(orphan.position) ? { ...orphan, letter: maybeDone(orphan.letter) } : orphan,
  );
  for (;;) {
    const known = await readQueue(session, owner);
    const { letters, row } = burial(known, owner, told);
    await addLetters(session, letters);
    if (known === null || row === null || row === known || (await changed(session, known, row))) return;
  }
}

export function maybeDone(letter: DeadLetter): DeadLetter {
  return { ...letter, message: `${letter.message}${MAYBE_DONE}` };
}

/** Positions whose mark a document has. A document that another write has changed since has another mark. */
export async function begunOf(
  session: MongoSession,
  { namespace, journal }: Journal,
  positions: readonly number[],
): Promise<ReadonlySet<number>> {
  const first = positions[0];
  if (first === undefined) return new Set();
  const marks = new JournalMarks(journal);
  const isOrphan = { $gte: marks.at(first), $lte: marks.last };
  const found = new Set<number>();
  for (const name of await session.look((db, time) => collectionsOf({ db, time: () => time }, namespace))) {
    for (const field of [marks.field, OWNED_MARK_FIELD]) {
      const borne = await session.look((db, time) => db.collection(name).distinct(field, { [field]: isOrphan }, time));
      for (const mark of borne) found.add(positionOf(mark));
    }
  }
  return found;
}
