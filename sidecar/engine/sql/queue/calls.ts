import type { QueueCalls } from '#engine/queues.ts';
import { SchemaConnection, type SchemaDialect } from '../schema/connection.ts';
import type { Session, Sessions } from '../session.ts';
import { addLetter, lettersWhere, removeLetter, wantRetry } from './letters.ts';
import { buryOrphans, claimQueue, listQueues, readQueue } from './rows.ts';

/** The part of a relational engine that write-behind needs, but for applying, which is the hot path of each engine. */
export function createQueueCalls(sessions: Sessions, dialect: SchemaDialect): Omit<QueueCalls, 'applyQueue'> {
  const of = (session: Session) => new SchemaConnection(session, dialect);
  return {
    readQueue: (namespace, journal, bounds) =>
      sessions.read(bounds, (session) => readQueue(of(session), { namespace, journal })),
    listQueues: (namespace, bounds) => sessions.read(bounds, (session) => listQueues(of(session), namespace)),
    claimQueue: (namespace, journal, bounds) =>
      sessions.transaction(bounds, (session) => claimQueue(of(session), { namespace, journal })),
    listLetters: (namespace, bounds, limit) =>
      sessions.read(bounds, (session) =>
        namespace === null
          ? lettersWhere(of(session), { where: '', params: [], limit })
          : lettersWhere(of(session), { where: 'WHERE namespace = ?', params: [namespace], limit }),
      ),
    countLetters: (bounds) =>
      sessions.read(bounds, (session) => of(session).number('SELECT count(*) FROM _dead_letters')),
    lettersToRetry: (namespace, limit, bounds) =>
      sessions.read(bounds, (session) =>
        lettersWhere(of(session), {
          where: 'WHERE namespace = ? AND is_retry_wanted = 1',
          params: [namespace],
          limit,
        }),
      ),
    wantRetry: (id, bounds) => sessions.transaction(bounds, (session) => wantRetry(of(session), id)),
    discardLetter: (id, bounds) => sessions.transaction(bounds, (session) => removeLetter(of(session), id)),
    addLetters: (letters, bounds) =>
      sessions.transaction(bounds, async (session) => {
        for (const letter of letters) await addLetter(of(session), letter);
      }),
    buryOrphans: (owner, orphans, bounds) =>
      sessions.transaction(bounds, (session) => buryOrphans(of(session), owner, orphans)),
  };
}
