import {
  type DeadLetter,
  type QueueBatch,
  type QueueCalls,
  QueueLostError,
  QueueMovedError,
  type QueueRow,
} from '#engine/queues.ts';
import type { CallBounds } from '#engine/rows.ts';
import type { MongoSession } from '../session.ts';
import { MAX_BEGUN, type Progress, QueueAttempt, type QueueTools } from './apply.ts';
import { addLetters, countLetters, discardLetter, lettersToRetry, listLetters, wantRetry } from './letters.ts';
import { buryOrphans, claimQueue, isOwner, listQueues, readPlace, readQueue } from './owner.ts';

export function createQueueCalls(tools: QueueTools): QueueCalls {
  const queue = new QueueApply(tools);
  const read = <T>(bounds: CallBounds, work: (session: MongoSession) => Promise<T>) => tools.run('read', bounds, work);
  const write = <T>(bounds: CallBounds, work: (session: MongoSession) => Promise<T>) =>
    tools.run('write', bounds, work);
  return {
    readQueue: (namespace, journal, bounds) => read(bounds, (session) => readQueue(session, { namespace, journal })),
    listQueues: (namespace, bounds) => read(bounds, (session) => listQueues(session, namespace)),
    claimQueue: (namespace, journal, bounds) => write(bounds, (session) => claimQueue(session, { namespace, journal })),
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

/**
 * Applies entries without transactions, unit after unit. After each unit a statement moves the position of the queue. It
 * names journal, token and the position before: a sidecar whose place was fenced gets no further than its present unit.
 *
 * A crash leaves a unit that is applied in part or as a whole, or its dead letters, before the position has moved. The
 * next attempt does the unit again and skips what is done: documents hold the place of the last write of the journal
 * that was applied to them, inserted ones have an `_id` made of that place, deletes find what is left, and letters have
 * the id of their entry. A retry without a letter was done. Each operation of a batch is such a unit: the row also counts
 * the finished ones.
 */
class QueueApply {
  readonly #tools: QueueTools;
  /**
   * By namespace. For other namespaces entries may be begun, by a process that died or by an attempt with an unknown
   * end.
   */
  readonly #progress = new Map<string, Progress>();

  constructor(tools: QueueTools) {
    this.#tools = tools;
  }

  async apply(batch: QueueBatch, bounds: CallBounds): Promise<readonly DeadLetter[]> {
    const { namespace } = batch;
    const [row, parts] = await this.#tools.run('read', bounds, (session) => readPlace(session, batch));
    if (!isOwner(row, batch)) throw new QueueLostError(namespace);
    if (batch.knownTo !== undefined && row.position > batch.knownTo) throw new QueueMovedError(namespace);
    const inDoubt = this.#inDoubt(row);
    this.#progress.delete(namespace);
    const attempt = new QueueAttempt(this.#tools, batch, bounds, { position: row.position, parts, inDoubt });
    const letters = await attempt.run();
    this.#progress.set(namespace, attempt.progress);
    return letters;
  }

  #inDoubt({ namespace, journal, token, position }: QueueRow): number {
    const known = this.#progress.get(namespace);
    const isKnown = known?.journal === journal && known.token === token && known.position === position;
    return isKnown ? known.inDoubt : MAX_BEGUN;
  }
}
