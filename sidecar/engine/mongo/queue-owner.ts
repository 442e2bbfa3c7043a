import { Long } from 'mongodb';
import { MAX_PAST_OWNERS, type QueueBatch, type QueueRow } from '../queues.ts';
import { failureOf } from './failures.ts';
import { pastDocument, type QueueDocument, queuesOf, rowOf } from './queue-collections.ts';
import type { MongoSession } from './session.ts';

type Owner = Pick<QueueBatch, 'namespace' | 'journal' | 'token'>;

/** Each change names the row that it was made for, so that one that comes late finds another row and changes nothing. */

export async function readQueue(session: MongoSession, namespace: string): Promise<QueueRow | null> {
  const found = await session.look((db, time) => queuesOf(db).findOne({ _id: namespace }, time));
  return found === null ? null : rowOf(found);
}

export async function claimQueue(session: MongoSession, namespace: string, journal: string): Promise<QueueRow> {
  for (;;) {
    const known = await readQueue(session, namespace);
    if (known !== null && known.journal !== null) return known;
    await give(session, namespace, known, journal);
  }
}

export async function takeOverQueue(session: MongoSession, namespace: string, journal: string): Promise<QueueRow> {
  for (;;) {
    const known = await readQueue(session, namespace);
    if (known?.journal === journal) return known;
    await give(session, namespace, known, journal);
  }
}

export async function releaseQueue(session: MongoSession, { namespace, journal, token }: Owner): Promise<void> {
  for (;;) {
    const known = await readQueue(session, namespace);
    if (known === null || !isOwner(known, { journal, token })) return;
    await replaced(session, known, { ...known, journal: null, position: 0, past: pastWith(known) });
  }
}

/** For moving whole namespaces. */
export async function writeQueue(session: MongoSession, row: QueueRow): Promise<void> {
  const { _id, ...fields } = documentOf(row);
  await session.send((db, time) => queuesOf(db).replaceOne({ _id }, fields, { upsert: true, ...time }));
}

/** False where somebody else has moved the position, or owns the queue. */
export async function movePosition(session: MongoSession, owner: Owner, from: number, to: number): Promise<boolean> {
  const { namespace: _id, journal, token } = owner;
  const unmoved = { _id, journal, token: Long.fromNumber(token), position: Long.fromNumber(from) };
  const { matchedCount } = await session.send((db, time) =>
    queuesOf(db).updateOne(unmoved, { $set: { position: Long.fromNumber(to) } }, time),
  );
  return matchedCount > 0;
}

export function isOwner(row: QueueRow | null, { journal, token }: Pick<Owner, 'journal' | 'token'>): row is QueueRow {
  return row !== null && row.journal === journal && row.token === token;
}

async function give(session: MongoSession, namespace: string, known: QueueRow | null, journal: string) {
  if (known === null) return inserted(session, { namespace, journal, token: 1, position: 0, past: [] });
  await replaced(session, known, { ...known, journal, token: known.token + 1, position: 0, past: pastWith(known) });
}

function pastWith({ journal, token, position, past }: QueueRow): QueueRow['past'] {
  return journal === null ? past : [...past, { journal, token, position }].slice(-MAX_PAST_OWNERS);
}

async function inserted(session: MongoSession, row: QueueRow): Promise<void> {
  try {
    await session.send((db, time) => queuesOf(db).insertOne(documentOf(row), time));
  } catch (error) {
    if (failureOf(error).kind !== 'duplicate') throw error;
  }
}

/** Does nothing where the row is another one by now: the caller looks again anyway. */
async function replaced(session: MongoSession, known: QueueRow, next: QueueRow): Promise<void> {
  const { _id, journal, token, position } = documentOf(known);
  const { _id: _, ...fields } = documentOf(next);
  await session.send((db, time) => queuesOf(db).replaceOne({ _id, journal, token, position }, fields, time));
}

function documentOf({ namespace, journal, token, position, past }: QueueRow): QueueDocument {
  return {
    _id: namespace,
    journal,
    token: Long.fromNumber(token),
    position: Long.fromNumber(position),
    past: past.map(pastDocument),
  };
}
