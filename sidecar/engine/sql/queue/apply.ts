import { isCompiled, isLasting, retriedLetter, unitsOf, worksOf } from '#engine/model/queue-units.ts';
import {
  type DeadLetter,
  type QueueBatch,
  type QueueCalls,
  type QueuedBatch,
  type QueuedEntry,
  type QueuedWork,
  QueueLostError,
  QueueMovedError,
} from '#engine/queues.ts';
import type { CallBounds } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import { isMaybeTwin, MAX_TWIN_ATTEMPTS } from '../change.ts';
import { SchemaConnection, type SchemaDialect } from '../schema/connection.ts';
import type { Session, Sessions, SqlFailure } from '../session.ts';
import { createQueueCalls } from './calls.ts';
import { claimSlots } from './claims.ts';
import { addLetter, removeLetter } from './letters.ts';
import { moveQueue, readQueue } from './rows.ts';

/** Differences between servers in applying a queue. */
export interface ApplyDialect {
  readonly schema: SchemaDialect;
  /**
   * Runs a write inside a transaction, without a result. Rejects like `Engine.write`: with `StaleSchemaError`, an
   * `ApiError` or the driver's own error. The caller then undoes its statements with a savepoint.
   */
  runWrite(session: Session, work: QueuedWork): Promise<void>;
  classify(error: unknown): SqlFailure;
}

/** The part of a server's engine that write-behind needs. */
export function createQueues(sessions: Sessions, dialect: ApplyDialect): QueueCalls {
  return {
    ...createQueueCalls(sessions, dialect.schema),
    applyQueue: (batch, bounds) => applyQueue(sessions, dialect, batch, bounds),
  };
}

/**
 * A batch and its position in one transaction. Until its end the lock on the journal's row keeps out
 * an earlier attempt that was given up: the second transaction sees the position of the first.
 */
async function applyQueue(
  sessions: Sessions,
  dialect: ApplyDialect,
  batch: QueueBatch,
  bounds: CallBounds,
): Promise<readonly DeadLetter[]> {
  const { namespace, entries } = batch;
  const attempt = async (mode: 'whole' | 'apart'): Promise<readonly DeadLetter[]> => {
    const letters = await sessions.transaction({ deadline: bounds.deadline, namespace }, (session) =>
      new BatchRun(new SchemaConnection(session, dialect.schema), dialect, batch).run(mode),
    );
    if (letters === 'lost') throw new QueueLostError(namespace);
    if (letters === 'moved') throw new QueueMovedError(namespace);
    return letters;
  };
  if (entries.every(({ work }) => isCompiled(work))) {
    try {
      return await attempt('whole');
    } catch (error) {
      if (!(error instanceof ApiError && isLasting(error))) throw error;
    }
  }
  return attempt('apart');
}

/** State of a single transaction: a retry starts with a new run. */
class BatchRun {
  readonly #connection: SchemaConnection;
  readonly #dialect: ApplyDialect;
  readonly #batch: QueueBatch;
  readonly #letters: DeadLetter[] = [];

  constructor(connection: SchemaConnection, dialect: ApplyDialect, batch: QueueBatch) {
    this.#connection = connection;
    this.#dialect = dialect;
    this.#batch = batch;
  }

  /** Does nothing if the place has another token (`lost`) or is beyond `knownTo` (`moved`). */
  async run(mode: 'whole' | 'apart'): Promise<readonly DeadLetter[] | 'lost' | 'moved'> {
    const { namespace, journal, token, entries, knownTo } = this.#batch;
    const row = await readQueue(this.#connection, { namespace, journal }, { lock: true });
    if (row === null || row.token !== token) return 'lost';
    if (knownTo !== undefined && row.position > knownTo) return 'moved';
    const undone = await this.#withoutDone(entries.filter(({ position }) => position > row.position));
    const due = await claimSlots(this.#connection, undone);
    if (mode === 'whole') for (const { work } of due) if (!isCompiled(work)) throw work;
    if (mode === 'whole') await this.#runAll(due);
    else for (const segment of segmentsOf(due)) await this.#runApart(segment);
    const last = entries.at(-1)?.position ?? 0;
    if (last > row.position) await moveQueue(this.#connection, { namespace, journal }, last);
    return this.#letters;
  }

  /** An existing letter proves that the write was not done: a retry and a discard both remove it. */
  async #withoutDone(entries: readonly QueuedEntry[]): Promise<QueuedEntry[]> {
    const isThere = new Map<string, boolean>();
    const due: QueuedEntry[] = [];
    for (const entry of entries) {
      const letter = retriedLetter(entry);
      if (letter === null) due.push(entry);
      else {
        const wasThere = isThere.get(letter) ?? (await removeLetter(this.#connection, letter));
        isThere.set(letter, wasThere);
        if (wasThere) due.push(entry);
      }
    }
    return due;
  }

  async #runAll(entries: readonly QueuedEntry[]): Promise<void> {
    for (const { work } of unitsOf(entries)) {
      if ('write' in work) await this.#runWrite(work);
      else if (isCompiled(work)) await this.#runBatch(work);
    }
  }

  /** Runs an atomic batch; the caller undoes it on failure. */
  async #runBatch(batch: QueuedBatch): Promise<void> {
    for (const [index, work] of worksOf(batch).entries()) {
      try {
        await this.#runWrite(work);
      } catch (error) {
        throw this.#refusalOf(error)?.inOperation(index) ?? error;
      }
    }
  }

  #runWrite(work: QueuedWork): Promise<void> {
    return this.#dialect.runWrite(this.#connection.session, work);
  }

  /** Retries failed entries in halves, so that a few failing entries among many cost few attempts. */
  async #runApart(entries: readonly QueuedEntry[]): Promise<void> {
    const refusal = await this.#attempt(entries);
    if (refusal === null) return;
    const [first] = entries;
    if (first !== undefined && entries.length === 1) return this.#bury(first, refusal);
    const middle = entries.length >> 1;
    await this.#runApart(entries.slice(0, middle));
    await this.#runApart(entries.slice(middle));
  }

  /** Null if all entries are done, else why none is. */
  async #attempt(entries: readonly QueuedEntry[]): Promise<ApiError | null> {
    const [first] = entries;
    if (first !== undefined && !isCompiled(first.work)) return first.work;
    const { session } = this.#connection;
    for (let attempt = 1; ; attempt++) {
      await session.query('SAVEPOINT entries');
      try {
        await this.#runAll(entries);
        await session.query('RELEASE SAVEPOINT entries');
        return null;
      } catch (error) {
        const refusal = this.#refusalOf(error);
        if (refusal === null) throw error;
        await session.query('ROLLBACK TO SAVEPOINT entries');
        if (attempt === MAX_TWIN_ATTEMPTS || !isTwinOf(entries, refusal)) return refusal;
      }
    }
  }

  /** Why a write can never be done; null if a later attempt may succeed. */
  #refusalOf(error: unknown): ApiError | null {
    if (error instanceof ApiError) return isLasting(error) ? error : null;
    const failure = this.#dialect.classify(error);
    return failure.kind === 'refused' ? new ApiError(failure.code, failure.message) : null;
  }

  async #bury(entry: QueuedEntry, { code, message }: ApiError): Promise<void> {
    const { letterId: id, kid, op, payload, time } = entry;
    const { namespace } = this.#batch;
    const letter: DeadLetter = { id, namespace, kid, op, payload, code, message, time, isRetryWanted: false };
    await addLetter(this.#connection, letter);
    this.#letters.push(letter);
  }
}

/** Groups of writes that may run together; a write that can never be done is a group of its own. */
function segmentsOf(entries: readonly QueuedEntry[]): QueuedEntry[][] {
  const segments: QueuedEntry[][] = [];
  let open: QueuedEntry[] | null = null;
  for (const entry of entries) {
    if (!isCompiled(entry.work)) {
      segments.push([entry]);
      open = null;
    } else if (open === null) {
      open = [entry];
      segments.push(open);
    } else open.push(entry);
  }
  return segments;
}

function isTwinOf(entries: readonly QueuedEntry[], refusal: ApiError): boolean {
  const [first] = entries;
  if (first === undefined || entries.length > 1) return false;
  if (!isCompiled(first.work)) return false;
  // The failed operation of a batch is unknown, and another attempt is safe.
  return 'write' in first.work ? isMaybeTwin(first.work.write, refusal) : refusal.code === 'constraint_violation';
}
