import { burial } from '#engine/model/queue-ownership.ts';
import type { DeadLetter, Orphan, QueueOwner } from '#engine/queues.ts';
import { LAST_QUEUED_FIELD } from '../documents.ts';
import { collectionsOf } from '../schema/store.ts';
import type { MongoSession } from '../session.ts';
import { addLetters } from './letters.ts';
import { JournalMarks, positionOf } from './marks.ts';
import { changed, readQueue } from './owner.ts';

const MAYBE_DONE = '; it had begun by then: look what of it is there before you try it again';

/**
 * The letters first: what is buried twice is worse than what is not, but less bad than what is lost. The owner may have
 * lost the queue in the middle of a step, of which the position tells nothing: letters of what was begun say so.
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

/** Positions whose mark a document bears. One that another write has changed since bears it no more. */
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
