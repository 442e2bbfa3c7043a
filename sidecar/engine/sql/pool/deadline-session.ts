import { Deadlines, type Expiring } from '#engine/model/deadlines.ts';
import { ApiError } from '#protocol/errors.ts';
import type { Session, SqlParam, SqlResult, TakeRow } from '../session.ts';
import type { ConnectionSource, SqlConnection } from './driver.ts';

/** How long a cancelled statement may take to end before its connection is given up. */
const CANCEL_GRACE_MS = 250;

/** The end of a statement is unknown: the server did not answer. */
export class AbandonedError extends Error {
  constructor() {
    super('the server did not answer in time');
    this.name = 'AbandonedError';
  }
}

/** The statement is committed here, but the replicas that must have it may lack it: a fail-over may lose it. */
export class UnconfirmedError extends Error {
  constructor() {
    super('the replicas did not confirm in time');
    this.name = 'UnconfirmedError';
  }
}

/** The connection was gone before the statement was sent. */
export class UnsentError extends Error {
  constructor() {
    super('the connection was gone before the statement was sent');
    this.name = 'UnsentError';
  }
}

/** A session whose statements end by the deadline: cancelled at the server, or given up together with the connection. */
export class DeadlineSession implements Session, Expiring {
  static readonly #deadlines = new Deadlines();
  readonly deadline: number;
  readonly #source: ConnectionSource;
  readonly #connection: SqlConnection;
  #graceTimer: NodeJS.Timeout | undefined;
  /** Gives up the running statement; null while none runs. */
  #giveUp: (() => void) | null = null;
  #sent = 0;
  /** Resolves when the server has passed the cancel on; null while none was sent. */
  #cancelling: Promise<void> | null = null;
  #isCancelTold = false;
  #isAbandoned = false;
  /** The deadline passed between two statements, so the work could not undo or complete its first one. */
  #isCutOff = false;

  constructor(source: ConnectionSource, connection: SqlConnection, deadline: number) {
    this.#source = source;
    this.#connection = connection;
    this.deadline = deadline;
    DeadlineSession.#deadlines.add(this);
  }

  /** Whether any statement has reached the wire. */
  get hasSent(): boolean {
    return this.#sent > 0;
  }

  /**
   * A cancel may still be on its way to a connection, unless its statement has reported the cancel. A connection whose
   * work was cut off may hold a lock, a setting or a transaction of that work.
   */
  get isReusable(): boolean {
    if (this.#isAbandoned || this.#isCutOff || !this.#connection.isUsable) return false;
    return this.#cancelling === null || (this.#isCancelTold && !this.#source.isSnapshot);
  }

  /** Resolves when no cancel is on its way any more. */
  get cancelled(): Promise<void> | null {
    return this.#cancelling;
  }

  query(text: string, params?: readonly SqlParam[]): Promise<SqlResult> {
    return this.#run(() => this.#connection.query(text, params));
  }

  prepared(text: string, params: readonly SqlParam[]): Promise<SqlResult> {
    return this.#run(() => this.#connection.query(text, params, { isPrepared: !this.#source.isSnapshot }));
  }

  async stream(text: string, params: readonly SqlParam[], take: TakeRow): Promise<void> {
    await this.#run(() => this.#connection.query(text, params, { isPrepared: !this.#source.isSnapshot, take }));
  }

  async begin(): Promise<void> {
    await this.#run(async () => this.#changing.begin());
  }

  async commit(): Promise<void> {
    await this.#run(async () => this.#changing.commit());
  }

  /** Also after the deadline: it takes no longer than a cancel may take. */
  async rollback(): Promise<void> {
    DeadlineSession.#deadlines.delete(this);
    this.#startGrace();
    await this.#send(async () => this.#changing.rollback());
  }

  /** Only the source itself begins and ends the transaction of a snapshot. */
  get #changing(): SqlConnection {
    if (this.#source.isSnapshot) throw new Error('what is read for a backup is not changed');
    return this.#connection;
  }

  /** To be called once, when the work is over. */
  end(): void {
    DeadlineSession.#deadlines.delete(this);
    clearTimeout(this.#graceTimer);
  }

  #run<T>(send: () => Promise<T>): Promise<T> {
    if (performance.now() >= this.deadline || this.#cancelling !== null || this.#isAbandoned) {
      this.#isCutOff = this.hasSent;
      return Promise.reject(new ApiError('database_timeout', 'the database took too long; nothing was changed'));
    }
    return this.#send(send);
  }

  #send<T>(send: () => Promise<T>): Promise<T> {
    if (!this.#connection.isUsable) return Promise.reject(new UnsentError());
    this.#sent += 1;
    return new Promise<T>((resolve, reject) => {
      this.#giveUp = () => reject(new AbandonedError());
      send().then(
        (result) => {
          this.#giveUp = null;
          resolve(result);
        },
        (error: unknown) => {
          this.#giveUp = null;
          this.#isCancelTold ||= this.#cancelling !== null && this.#source.classify(error).kind === 'cancelled';
          reject(error);
        },
      );
    });
  }

  expire(): void {
    if (this.#giveUp === null) return;
    this.#cancelling = this.#connection.cancel().catch(() => {
      // The grace ends the wait.
    });
    this.#startGrace();
  }

  #startGrace(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => {
      this.#isAbandoned = this.#giveUp !== null;
      this.#giveUp?.();
    }, CANCEL_GRACE_MS);
  }
}
