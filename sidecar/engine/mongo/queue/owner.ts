import { type Filter, Long } from 'mongodb';
import { burial, givenUp, owned } from '#engine/model/queue-ownership.ts';
import type { DeadLetter, Orphan, QueueOwner, QueueRow } from '#engine/queues.ts';
import { LAST_QUEUED_FIELD } from '../documents.ts';
import { failureOf } from '../failures.ts';
import { collectionsOf } from '../schema/store.ts';
import type { MongoSession } from '../session.ts';
import { type QueueDocument, queueDocument, queuesOf, rowOf } from './collections.ts';
import { addLetters } from './letters.ts';
import { JournalMarks, positionOf } from './marks.ts';

export async function readQueue(session: MongoSession, namespace: string): Promise<QueueRow | null> {
  const found = await session.look((db, time) => queuesOf(db).findOne({ _id: namespace }, time));
  return found === null ? null : rowOf(found);
}

/** Place of a queue: `parts` operations of the entry behind the position are done, too. */
export interface QueuePlace {
  readonly position: number;
  readonly parts: number;
}

/** The row, and the number of finished operations of the next entry. */
export async function readPlace(session: MongoSession, namespace: string): Promise<readonly [QueueRow | null, number]> {
  const found = await session.look((db, time) => queuesOf(db).findOne({ _id: namespace }, time));
  return found === null ? [null, 0] : [rowOf(found), found.parts ?? 0];
}

export async function ownQueue(
  session: MongoSession,
  namespace: string,
  journal: string,
  from: 'nobody' | 'anybody',
): Promise<QueueRow> {
  for (;;) {
    const known = await readQueue(session, namespace);
    const next = owned(known, namespace, journal, from);
    if (next === known || (await changed(session, known, next))) return next;
  }
}

export async function releaseQueue(session: MongoSession, owner: QueueOwner): Promise<void> {
  for (;;) {
    const known = await readQueue(session, owner.namespace);
    if (known === null) return;
    const next = givenUp(known, owner);
    if (next === known || (await changed(session, known, next))) return;
  }
}

/** False if another attempt has moved the place, or another journal owns the queue. */
export async function movePlace(
  session: MongoSession,
  { namespace: _id, journal, token }: QueueOwner,
  from: QueuePlace,
  to: QueuePlace,
): Promise<boolean> {
  const position = Long.fromNumber(from.position);
  const parts = from.parts === 0 ? { $in: [null, 0] } : from.parts;
  const unmoved = { _id, journal, token: Long.fromNumber(token), position, parts };
  const moved = { position: Long.fromNumber(to.position), ...(to.parts === from.parts ? {} : { parts: to.parts }) };
  const { matchedCount } = await session.send((db, time) =>
    queuesOf(db).updateOne(unmoved as Filter<QueueDocument>, { $set: moved }, time),
  );
  return matchedCount > 0;
}

export function isOwner(row: QueueRow | null, { journal, token }: QueueOwner): row is QueueRow {
  return row !== null && row.journal === journal && row.token === token;
}

/** Names the row that the change was made for, so that a late change finds another row and does nothing. False then. */
async function changed(session: MongoSession, known: QueueRow | null, next: QueueRow): Promise<boolean> {
  const { _id, ...fields } = queueDocument(next);
  if (known === null) return inserted(session, next);
  const { journal, token, position, past } = queueDocument(known);
  const { matchedCount } = await session.send((db, time) =>
    queuesOf(db).replaceOne({ _id, journal, token, position, past }, fields, time),
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
 * Letters first: two letters are worse than one, but better than a lost entry. The owner may have lost the queue in the
 * middle of a step, which the position does not show: letters of entries that were begun say so.
 */
export async function buryOrphans(session: MongoSession, owner: QueueOwner, orphans: readonly Orphan[]): Promise<void> {
  const begun = await begunOf(session, owner, orphans);
  const told = orphans.map((orphan) =>
    begun.has(orphan.position) ? { ...orphan, letter: maybeDone(orphan) } : orphan,
  );
  for (;;) {
    const known = await readQueue(session, owner.namespace);
    const { letters, row } = burial(known, owner, told);
    await addLetters(session, letters);
    if (row === null || row === known || (await changed(session, known, row))) return;
  }
}

function maybeDone({ letter }: Orphan): DeadLetter {
  return { ...letter, message: `${letter.message}${MAYBE_DONE}` };
}

/** Positions whose mark a document has. A document that another write has changed since has another mark. */
async function begunOf(
  session: MongoSession,
  { namespace, journal }: QueueOwner,
  orphans: readonly Orphan[],
): Promise<ReadonlySet<number>> {
  const first = orphans[0];
  if (first === undefined) return new Set();
  const marks = new JournalMarks(journal);
  const isOrphan = { $gte: marks.at(first.position), $lte: marks.last };
  const found = new Set<number>();
  for (const name of await session.look((db, time) => collectionsOf({ db, time: () => time }, namespace))) {
    const borne = await session.look((db, time) =>
      db.collection(name).distinct(LAST_QUEUED_FIELD, { [LAST_QUEUED_FIELD]: isOrphan }, time),
    );
    for (const mark of borne) found.add(positionOf(mark));
  }
  return found;
}
