import type { QueueCalls } from '#engine/queues.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { MongoSession } from '../session.ts';
import { QueueApply } from './apply.ts';
import type { QueueTools } from './attempt.ts';
import { addLetters, countLetters, discardLetter, lettersToRetry, listLetters, wantRetry } from './letters.ts';
import { buryOrphans } from './orphans.ts';
import { ownQueue, readQueue, releaseQueue } from './owner.ts';

export function createQueueCalls(tools: QueueTools): QueueCalls {
  const queue = new QueueApply(tools);
  const read = <T>(bounds: CallBounds, work: (session: MongoSession) => Promise<T>) => tools.run('read', bounds, work);
  const write = <T>(bounds: CallBounds, work: (session: MongoSession) => Promise<T>) =>
    tools.run('write', bounds, work);
  return {
    readQueue: (namespace, bounds) => read(bounds, (session) => readQueue(session, namespace)),
    claimQueue: (namespace, journal, bounds) =>
      write(bounds, (session) => ownQueue(session, namespace, journal, 'nobody')),
    takeOverQueue: (namespace, journal, bounds) =>
      write(bounds, (session) => ownQueue(session, namespace, journal, 'anybody')),
    releaseQueue: (owner, bounds) => write(bounds, (session) => releaseQueue(session, owner)),
    applyQueue: (batch, bounds) => queue.apply(batch, bounds),
    listLetters: (namespace, bounds, limit) => read(bounds, (session) => listLetters(session, namespace, limit)),
    countLetters: (bounds) => read(bounds, countLetters),
    lettersToRetry: (namespace, limit, bounds) => read(bounds, (session) => lettersToRetry(session, namespace, limit)),
    wantRetry: (id, bounds) => write(bounds, (session) => wantRetry(session, id)),
    discardLetter: (id, bounds) => write(bounds, (session) => discardLetter(session, id)),
    addLetters: (letters, bounds) => write(bounds, (session) => addLetters(session, letters)),
    buryOrphans: (owner, orphans, bounds) => write(bounds, (session) => buryOrphans(session, owner, orphans)),
  };
}
