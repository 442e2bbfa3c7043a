import SQLite from 'better-sqlite3';
import { ApiError } from '#protocol/errors.ts';
import { CheckedRevisions, type Connection, expiredBeforeStart } from '../connection.ts';
import { diagnose } from '../failures.ts';
import { type AskSteps, needsSavepoint, runWrite } from '../write.ts';
import type { Answer, WriteCall } from './messages.ts';
import { expectedMs, monotonicMs } from './monotonic.ts';
import type { WorkerVoice } from './voice.ts';

/** A group is committed at this age: its writes wait for the commit. */
const MAX_GROUP_MS = 5;
const MAX_GROUP_WRITES = 256;
/** A statement that took longer gets a group of its own from then on. */
const QUICK_MS = 5;

/**
 * Writes that wait at the same time share one transaction and one wait for the disk: `BEGIN IMMEDIATE`, each write
 * behind its own savepoint, `COMMIT`. Each is answered only after the commit.
 */
export class WriteGroup {
  readonly #connection: Connection;
  readonly #voice: WorkerVoice;
  readonly #ask: AskSteps;
  /** Expected time of a batch, from earlier batches. */
  #batchMs: number | null = null;

  constructor(connection: Connection, voice: WorkerVoice, ask: AskSteps) {
    this.#ask = ask;
    this.#connection = connection;
    this.#voice = voice;
  }

  /** Runs writes from the front of the queue until a group is full, and answers them. `more` fills the queue. */
  run(queue: WriteCall[], more: () => void): void {
    const first = queue[0];
    if (first === undefined) return;
    let done: Answer[] = [];
    const taken: WriteCall[] = [];
    let isCommitting = false;
    let commits = 0;
    try {
      if (!this.#begin(queue)) return;
      const revisions = new CheckedRevisions(this.#connection);
      const until = monotonicMs() + MAX_GROUP_MS;
      for (let call = queue[0]; call !== undefined; call = queue[0]) {
        if (taken.length > 0 && this.#isSlow(call)) break;
        queue.shift();
        taken.push(call);
        done.push(this.#runOne(call, revisions));
        if (monotonicMs() >= until || taken.length >= MAX_GROUP_WRITES) break;
        if (queue.length === 0) more();
      }
      isCommitting = true;
      this.#connection.open().exec('COMMIT');
      commits = 1;
      this.#voice.reportWorking();
    } catch (error) {
      const isUnknown = isCommitting && isDiskFailure(error);
      done = this.#recover(error, taken.length === 0 ? queue.splice(0) : taken, isUnknown);
    }
    this.#voice.answer(done, commits);
  }

  /** False if another process holds the database: writes past their deadline are answered, the others stay queued. */
  #begin(queue: WriteCall[]): boolean {
    try {
      this.#connection.open().exec('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (!(error instanceof SQLite.SqliteError) || !error.code.startsWith('SQLITE_BUSY')) throw error;
      const now = monotonicMs();
      const over = queue.filter((call) => call.deadline <= now);
      const left = queue.filter((call) => call.deadline > now);
      queue.splice(0, queue.length, ...left);
      this.#voice.answer(over.map((call) => this.#failed(call, error, now)));
      return false;
    }
  }

  #runOne(call: WriteCall, revisions: CheckedRevisions): Answer {
    this.#voice.publishStart(call.sequence);
    const startedAt = monotonicMs();
    const hasSavepoint = needsSavepoint(call);
    this.#connection.guard.arm(call.deadline);
    try {
      if (startedAt >= call.deadline) throw expiredBeforeStart();
      if (hasSavepoint) this.#connection.own('SAVEPOINT one').run();
      const value = runWrite(this.#connection, revisions, call, this.#ask);
      if (hasSavepoint) this.#connection.own('RELEASE one').run();
      return { sequence: call.sequence, value, failure: null, ranMs: this.#noteTime(call, startedAt) };
    } catch (error) {
      if (diagnose(error).isBroken || !this.#connection.isInTransaction) throw error;
      if (hasSavepoint && startedAt < call.deadline) this.#connection.open().exec('ROLLBACK TO one; RELEASE one');
      return this.#failed(call, error, startedAt);
    }
  }

  #isSlow({ work }: WriteCall): boolean {
    const expected = work.do === 'batch' ? this.#batchMs : this.#connection.runMs(work.statement);
    return (expected ?? Number.POSITIVE_INFINITY) > QUICK_MS;
  }

  #noteTime({ work }: WriteCall, startedAt: number): number {
    const ranMs = monotonicMs() - startedAt;
    if (work.do === 'batch') this.#batchMs = expectedMs(ranMs, this.#batchMs);
    else this.#connection.noteRun(work.statement, ranMs);
    return ranMs;
  }

  #failed(call: WriteCall, error: unknown, startedAt: number): Answer {
    const { failure } = diagnose(error);
    return { sequence: call.sequence, value: null, failure, ranMs: monotonicMs() - startedAt };
  }

  /**
   * The group failed as a whole and nothing of it is stored, even if one write caused it (a generator at its end). If the
   * disk failed during the commit, the outcome is unknown: the log may hold the group, and a restart would find it.
   */
  #recover(error: unknown, calls: readonly WriteCall[], isUnknown: boolean): Answer[] {
    this.#giveUpConnection(error);
    if (isUnknown) return calls.map((call) => unknownOutcome(call));
    if (calls.length > 1 && (isFull(error) || error instanceof ApiError))
      return calls.map((call) => this.#runAlone(call));
    return calls.map((call) => this.#failed(call, error, monotonicMs()));
  }

  /** A single write may be too large for a disk that has room for the others. */
  #runAlone(call: WriteCall): Answer {
    let isCommitting = false;
    try {
      this.#connection.open().exec('BEGIN IMMEDIATE');
      const answer = this.#runOne(call, new CheckedRevisions(this.#connection));
      isCommitting = true;
      this.#connection.open().exec('COMMIT');
      return answer;
    } catch (error) {
      this.#giveUpConnection(error);
      return isCommitting && isDiskFailure(error) ? unknownOutcome(call) : this.#failed(call, error, monotonicMs());
    }
  }

  #giveUpConnection(error: unknown): void {
    this.#connection.rollBack();
    this.#connection.close();
    if (diagnose(error).isBroken) this.#voice.reportBroken(error);
  }
}

function isDiskFailure(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code.startsWith('SQLITE_IOERR');
}

function isFull(error: unknown): boolean {
  return error instanceof SQLite.SqliteError && error.code === 'SQLITE_FULL';
}

function unknownOutcome(call: WriteCall): Answer {
  const message = 'the disk failed while the write was being made durable: its outcome is unknown';
  return { sequence: call.sequence, value: null, failure: { kind: 'api', code: 'database_error', message }, ranMs: 0 };
}
