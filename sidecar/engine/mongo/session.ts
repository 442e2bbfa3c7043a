import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { ApiError } from '#protocol/errors.ts';
import { orLate } from '#sidecar/deadline.ts';
import type { CallBounds } from '../rows.ts';
import { DeadlineError, failureOf } from './failures.ts';

/** Limits of every call of the driver; its own `timeoutMS` has no effect in version 7.9. */
export interface CallTime {
  /** The server ends the statement after this. */
  readonly maxTimeMS: number;
  /**
   * Frees the caller and the connection if the server does not end the statement. The driver observes it in every
   * operation.
   */
  readonly signal: AbortSignal;
}

export type Statement<T> = (db: Db, time: CallTime) => Promise<T>;

/** Session of one call of the engine. */
export interface MongoSession {
  readonly db: Db;
  /** Time that is left. @throws DeadlineError if no time is left */
  time(): CallTime;
  /**
   * Sends a statement that changes something. Repeats it while it certainly did not run: there was no connection, or a
   * write conflict (five times). Throws the error of the driver.
   */
  send<T>(statement: Statement<T>): Promise<T>;
  /** Sends a statement that only reads. Repeats it also if the connection was lost. */
  look<T>(statement: Statement<T>): Promise<T>;
}

/** Time for the answer of a server that ends a statement; after that the connection is given up. */
const GRACE_MS = 200;
const MAX_CONFLICTS = 5;
const RETRY_PAUSE_MS = 30;

export class Call implements MongoSession {
  readonly db: Db;
  readonly #deadline: number;
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #connectionsTaken: () => number;
  /** A statement was sent that may have changed something. */
  hasWritten = false;

  /** @param connectionsTaken how often a statement of any call has received its connection */
  constructor(db: Db, { deadline }: CallBounds, connectionsTaken: () => number = () => 0) {
    this.db = db;
    this.#connectionsTaken = connectionsTaken;
    this.#deadline = deadline;
    const leftMs = Math.max(0, deadline - performance.now()) + GRACE_MS;
    this.#timer = setTimeout(() => this.#abort.abort(new DeadlineError('the time of the call is over')), leftMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  time(): CallTime {
    const leftMs = Math.floor(this.#deadline - performance.now());
    if (leftMs < 1) throw new DeadlineError('the time of the call is over');
    return { maxTimeMS: leftMs, signal: this.#abort.signal };
  }

  look<T>(statement: Statement<T>): Promise<T> {
    return this.#repeat(statement, false);
  }

  async send<T>(statement: Statement<T>): Promise<T> {
    return this.#repeat(async (db, time) => {
      const wrote = this.hasWritten;
      this.hasWritten = true;
      try {
        return await statement(db, time);
      } catch (error) {
        const { kind } = failureOf(error);
        if (kind === 'unreachable' || kind === 'conflict') this.hasWritten = wrote;
        throw error;
      }
    }, true);
  }

  async #repeat<T>(statement: Statement<T>, isWrite: boolean): Promise<T> {
    let conflicts = 0;
    /** Why the statement has not run so far; thrown if time ends before there is a server. */
    let reason: unknown = null;
    for (;;) {
      const takenBefore = this.#connectionsTaken();
      try {
        return await statement(this.db, this.time());
      } catch (error) {
        const { kind } = failureOf(error);
        const wasSent = this.#connectionsTaken() !== takenBefore;
        if (kind === 'timeout' && reason !== null && !wasSent) throw reason;
        if (kind === 'conflict') conflicts += 1;
        const isSafe = kind === 'unreachable' || kind === 'conflict' || (kind === 'lost' && !isWrite);
        // Longer after each conflict: many writers that have met would only meet again.
        const pauseMs = RETRY_PAUSE_MS * 2 ** conflicts * (0.5 + Math.random());
        if (!isSafe || conflicts > MAX_CONFLICTS || !this.#hasTimeFor(pauseMs)) throw error;
        if (kind !== 'conflict') reason = error;
        await delay(pauseMs);
      }
    }
  }

  /** And for a statement after it. */
  #hasTimeFor(pauseMs: number): boolean {
    return !this.#abort.signal.aborted && this.#deadline - performance.now() > pauseMs + RETRY_PAUSE_MS;
  }
}

/** Waits for work that other calls wait for too. The work goes on if the time of this call is over. */
export async function within(work: Promise<void>, { deadline }: CallBounds): Promise<void> {
  const outcome = await orLate(work, deadline - performance.now(), 'late');
  if (outcome === 'late') throw new ApiError('database_timeout', 'the database did not answer in time');
}
