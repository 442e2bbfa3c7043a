import { Long } from 'mongodb';
import { givenUp, owned } from '../queue-ownership.ts';
import type { QueueOwner, QueueRow } from '../queues.ts';
import { failureOf } from './failures.ts';
import { queueDocument, queuesOf, rowOf } from './queue-collections.ts';
import type { MongoSession } from './session.ts';

/** Each change names the row that it was made for, so that one that comes late finds another row and changes nothing. */

export async function readQueue(session: MongoSession, namespace: string): Promise<QueueRow | null> {
  const found = await session.look((db, time) => queuesOf(db).findOne({ _id: namespace }, time));
  return found === null ? null : rowOf(found);
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

/** False where somebody else has moved the position, or owns the queue. */
export async function movePosition(
  session: MongoSession,
  owner: QueueOwner,
  from: number,
  to: number,
): Promise<boolean> {
  const { namespace: _id, journal, token } = owner;
  const unmoved = { _id, journal, token: Long.fromNumber(token), position: Long.fromNumber(from) };
  const { matchedCount } = await session.send((db, time) =>
    queuesOf(db).updateOne(unmoved, { $set: { position: Long.fromNumber(to) } }, time),
  );
  return matchedCount > 0;
}

export function isOwner(row: QueueRow | null, { journal, token }: QueueOwner): row is QueueRow {
  return row !== null && row.journal === journal && row.token === token;
}

/** False where the row is another one by now. */
export async function changed(session: MongoSession, known: QueueRow | null, next: QueueRow): Promise<boolean> {
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
