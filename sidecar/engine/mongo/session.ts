import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { ApiError } from '#protocol/errors.ts';
import { orLate } from '#sidecar/deadline.ts';
import type { CallBounds } from '../rows.ts';
import { DeadlineError, failureOf } from './failures.ts';

/** For every call of the driver; its own `timeoutMS` does nothing in version 7.9. */
export interface CallTime {
  /** The server ends the statement after this. */
  readonly maxTimeMS: number;
  /** Frees the caller, and the connection, where the server does not. The driver heeds it in every operation. */
  readonly signal: AbortSignal;
}

export type Statement<T> = (db: Db, time: CallTime) => Promise<T>;

/** What one call of the engine works with. */
export interface MongoSession {
  readonly db: Db;
  /** The time that is left. @throws ApiError `database_timeout` where none is */
  time(): CallTime;
  /**
   * One statement that changes something, sent again as long as it surely did not run: there was no connection, or other
   * writes were in the way (five times). Throws what the driver throws.
   */
  send<T>(statement: Statement<T>): Promise<T>;
  /** One statement that only reads: sent again also where the connection was lost. */
  look<T>(statement: Statement<T>): Promise<T>;
}

/** The server's own end of a statement is told by then; later the connection is given up. */
const GRACE_MS = 200;
const MAX_CONFLICTS = 5;
const RETRY_PAUSE_MS = 30;

/** The session of one call of the engine. */
export class Call implements MongoSession {
  readonly db: Db;
  readonly #deadline: number;
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #connectionsTaken: () => number;
  /** Something was sent that may have changed something. */
  hasWritten = false;

  /** `connectionsTaken` counts how often a statement of any call has got its connection. */
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
    /** Why it has not run so far: what the caller is told where time ends before a server is there. */
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
        if (!isSafe || conflicts > MAX_CONFLICTS || !this.#hasTimeToPause()) throw error;
        if (kind !== 'conflict') reason = error;
      }
      await delay(RETRY_PAUSE_MS * (0.5 + Math.random()));
    }
  }

  #hasTimeToPause(): boolean {
    return !this.#abort.signal.aborted && this.#deadline - performance.now() > 2 * RETRY_PAUSE_MS;
  }
}

/** Waits for what others wait for too, and what goes on when the time of this call is over. */
export async function within(work: Promise<void>, { deadline }: CallBounds): Promise<void> {
  const outcome = await orLate(work, deadline - performance.now(), 'late');
  if (outcome === 'late') throw new ApiError('database_timeout', 'the database did not answer in time');
}

/**
 * Lets as many calls run at a time as there are connections, in the order in which they come. Else calls of several
 * statements would advance side by side, and under load all of them be late instead of the last ones.
 */
export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** @throws ApiError `database_timeout` where there is no place in time; `work` has not run then */
  async run<T>({ deadline }: CallBounds, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#place(deadline);
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #place(deadline: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(
        () => {
          this.#waiting.delete(take);
          reject(new ApiError('database_timeout', 'the database was busy for too long; nothing was changed'));
        },
        Math.max(0, deadline - performance.now()),
      );
      this.#waiting.add(take);
    });
  }

  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
