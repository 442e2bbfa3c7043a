import { DiskFullError } from '#engine/disk-full.ts';
import type { EngineLog } from '#engine/log.ts';
import { faultPlace } from '#engine/model/failures.ts';
import { StaleSchemaError } from '#engine/rows.ts';
import { ApiError } from '#protocol/errors.ts';
import type {
  Answer,
  BatchQuestion,
  Failure,
  FromWorker,
  StatementDefinition,
  Told,
  WorkerSettings,
} from './messages.ts';
import { expectedMs, sharedDeadline } from './monotonic.ts';
import { OutstandingCalls } from './outstanding-calls.ts';
import { packCall, unpackAnswers } from './packed.ts';
import type { BookedStatement, PendingCall } from './pending-call.ts';
import { WorkerThread } from './thread.ts';

/** Committed transactions of data, and the writes answered after them. */
export interface Commits {
  readonly groups: number;
  readonly writes: number;
}

export interface LinkEvents {
  /** After every message of answers. All calls in it are settled, except reads that went over their budget. */
  readonly onAnswers: (overBudget: readonly PendingCall[], commits: Commits) => void;
  readonly onTimeout: () => void;
  /** The worker has not answered a call until its deadline. */
  readonly onSilence: () => void;
  readonly log: EngineLog;
  /** Whether the writer finds no room on the disk. A reader of a new file then lacks what the writer could not make. */
  readonly isDiskFull: () => boolean;
}

/** A call without an answer is given up this long after its deadline. */
const GRACE_MS = 400;
const RESTART_MS = 200;
/** A reader that has not answered a call this long after its deadline is replaced. */
const STUCK_MS = 2000;
/** Maximum of replaced threads of one link that have not ended; then no thread is replaced. */
const MAX_REPLACED = 2;
/** Maximum wait of a read behind a running one; then another reader takes it. */
const MAX_WAIT_BEHIND_MS = 100;
/** Time to close for a reader without a call that may still answer. */
const CLOSE_IDLE_MS = 3000;

/** Link from the API's thread to one worker thread: sends calls in batches, settles them, keeps their deadlines. */
export class WorkerLink {
  readonly #settings: Omit<WorkerSettings, 'started'>;
  readonly #events: LinkEvents;
  readonly #outstanding = new OutstandingCalls();
  /** Threads that were replaced and have not ended. */
  readonly #replaced = new Set<WorkerThread>();
  #thread: WorkerThread;
  #sequence = 0;
  /** Call that the thread started last, as seen by the sweeps, and the time of the first such sweep. */
  #running = { sequence: 0, sinceMs: 0 };
  #isClosing = false;
  #hasEnded = false;
  /** `close` did not wait for the thread. */
  #isGivenUp = false;
  #isDiskFull = false;
  #hasDone = false;
  #opened = Promise.withResolvers<string | null>();
  #closed = Promise.withResolvers<void>();

  constructor(settings: Omit<WorkerSettings, 'started'>, events: LinkEvents) {
    this.#settings = settings;
    this.#events = events;
    this.#thread = this.#newThread();
  }

  #newThread(): WorkerThread {
    this.#hasDone = false;
    return new WorkerThread(this.#settings, {
      onMessage: (message) => this.#receive(message),
      onError: (error) => this.#events.log('error', 'database worker failed', { problem: faultPlace(error) }),
      onExit: () => this.#onExit(),
    });
  }

  /** Resolves after the first attempt to open the file: null, or why the file must not be used. */
  get opened(): Promise<string | null> {
    return this.#opened.promise;
  }

  /** As the worker has reported last. */
  get isDiskFull(): boolean {
    return this.#isDiskFull;
  }

  get isStarted(): boolean {
    return this.#thread.isStarted;
  }

  /** Whether the thread has done a call: it has used the file. */
  get hasDone(): boolean {
    return this.#hasDone;
  }

  /** Calls that the worker has, given up or not. */
  get outstanding(): number {
    return this.#outstanding.size;
  }

  send(calls: readonly PendingCall[], budgetMs: number | null): void {
    const [definitions, aheadMs] = [new Map<number, StatementDefinition>(), sharedDeadline(0)];
    const packed: unknown[] = [];
    for (const pending of calls) {
      // A batch may have more different statements than the worker keeps, so the message defines all of them.
      const isWhole =
        pending.body.kind === 'apply' || (pending.body.kind === 'write' && pending.body.work.do === 'batch');
      for (const statement of pending.statements) this.#define(statement, definitions, isWhole);
      const sequence = ++this.#sequence;
      this.#outstanding.add(sequence, pending);
      packCall(pending.body, { sequence, deadline: aheadMs + pending.deadline, budgetMs }, packed);
    }
    this.#thread.post({ type: 'batch', definitions: [...definitions.values()], calls: packed });
  }

  #define(statement: BookedStatement, definitions: Map<number, StatementDefinition>, isAgain: boolean): void {
    if (definitions.has(statement.number) || (statement.knownBy.has(this.#thread.number) && !isAgain)) return;
    statement.knownBy.add(this.#thread.number);
    const { number, sql, columns, indexed } = statement;
    definitions.set(number, { number, sql, columns, ...(indexed === undefined ? {} : { indexed }) });
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'answers':
        this.#settle(unpackAnswers(message.answers), message.commits);
        break;
      case 'ask':
        this.#tell(message.sequence, message);
        break;
      case 'log':
        this.#isDiskFull = message.log.isDiskFull;
        this.#events.log(message.log.level, message.log.message, message.log.fields);
        break;
      case 'opened':
        this.#opened.resolve(message.unusable);
        break;
      case 'closed':
        break;
      default:
        message satisfies never;
    }
  }

  #tell(sequence: number, question: BatchQuestion): void {
    const told = this.#outstanding.get(sequence)?.pending.tell?.(question);
    const definitions = new Map<number, StatementDefinition>();
    for (const statement of told?.statements ?? []) this.#define(statement, definitions, true);
    const reply: Told = { type: 'told', sequence, definitions: [...definitions.values()], steps: told?.steps ?? [] };
    this.#thread.post(reply);
  }

  #settle(answers: readonly Answer[], commits: number): void {
    this.#hasDone ||= answers.some(({ failure }) => failure === null);
    const overBudget: PendingCall[] = [];
    for (const { sequence, value, failure, ranMs } of answers) {
      const outstanding = this.#outstanding.take(sequence);
      if (outstanding === undefined) continue;
      const { pending } = outstanding;
      for (const statement of pending.statements) statement.costMs = expectedMs(ranMs, statement.costMs);
      if (outstanding.isGivenUp) continue;
      if (failure === null) pending.resolve(value);
      else if (failure.kind === 'overBudget') overBudget.push(pending);
      else this.#fail(pending, failure);
    }
    const writes = commits === 0 ? 0 : answers.filter(({ failure }) => failure === null).length;
    this.#events.onAnswers(overBudget, { groups: commits, writes });
  }

  #fail(pending: PendingCall, failure: Exclude<Failure, { kind: 'overBudget' }>): void {
    if (failure.kind === 'stale') {
      pending.reject(new StaleSchemaError(failure.namespace));
      return;
    }
    if (failure.isDiskFull === true || (failure.code === 'database_error' && this.#events.isDiskFull())) {
      pending.reject(new DiskFullError(this.#settings.file));
      return;
    }
    if (failure.code === 'database_timeout') this.#events.onTimeout();
    pending.reject(new ApiError(failure.code, failure.message, { index: failure.index }));
  }

  /** To be called regularly: rejects calls whose worker does not answer, for example on a hung disk. */
  sweep(now: number): void {
    if (this.outstanding === 0) return;
    for (const { sequence, pending } of this.#outstanding.giveUp(now - GRACE_MS)) {
      this.#events.onTimeout();
      this.#events.onSilence();
      pending.reject(this.#lost(sequence, 'database_timeout'));
    }
    if (this.#isStuck(now)) this.#replace();
  }

  #isStuck(now: number): boolean {
    const { role } = this.#settings;
    // A stuck writer holds the lock of the database: another writer could do nothing.
    if (role === 'writer' || this.#isClosing || this.#replaced.size >= MAX_REPLACED) return false;
    return this.#outstanding.hasGivenUp(now - STUCK_MS);
  }

  #replace(): void {
    const thread = this.#thread;
    const { log, onAnswers } = this.#events;
    const waiting = this.#outstanding.takeAll().filter(({ isGivenUp }) => !isGivenUp);
    this.#replaced.add(thread);
    thread.abandon(() => {
      this.#replaced.delete(thread);
      log('info', 'replaced database reader has ended', {});
    });
    log('warn', 'database reader is replaced', { problem: 'it did not come back from a statement at its deadline' });
    this.#thread = this.#newThread();
    onAnswers(
      waiting.map(({ pending }) => pending),
      { groups: 0, writes: 0 },
    );
  }

  /** Takes back the reads that wait behind one that runs for too long. */
  takeWaiting(now: number): PendingCall[] {
    if (this.outstanding === 0) return [];
    const sequence = this.#thread.lastStarted;
    if (sequence !== this.#running.sequence) this.#running = { sequence, sinceMs: now };
    const isLong = now - this.#running.sinceMs >= MAX_WAIT_BEHIND_MS && this.#outstanding.get(sequence) !== undefined;
    return isLong ? this.#outstanding.takeLive(sequence) : [];
  }

  /** Whether a thread cannot be ended; the process then does not exit in order. */
  get hasStuckThread(): boolean {
    if (this.#replaced.size > 0) return true;
    return !this.#hasEnded && (this.#isGivenUp || this.#outstanding.hasGivenUp());
  }

  #lost(sequence: number, code: 'database_timeout' | 'database_error'): ApiError {
    const isUnknown = this.#settings.role === 'writer' && this.#thread.lastStarted >= sequence;
    const outcome = isUnknown ? ': the outcome is unknown' : '; nothing was changed';
    return new ApiError(code, `the database does not answer${outcome}`);
  }

  #onExit(): void {
    if (this.#isClosing) {
      this.#noteEnd();
      return;
    }
    for (const { sequence, pending, isGivenUp } of this.#outstanding.takeAll()) {
      if (!isGivenUp) pending.reject(this.#lost(sequence, 'database_error'));
    }
    this.#events.log('warn', 'database worker is started again', { role: this.#settings.role });
    setTimeout(() => this.#restart(), RESTART_MS).unref();
  }

  #restart(): void {
    if (this.#isClosing) {
      this.#noteEnd();
      return;
    }
    this.#thread = this.#newThread();
    const calls = this.#outstanding.takeAll().map(({ pending }) => pending);
    if (calls.length > 0) this.send(calls, null);
    this.#events.onAnswers([], { groups: 0, writes: 0 });
  }

  #noteEnd(): void {
    this.#hasEnded = true;
    this.#closed.resolve();
  }

  /** Waits for calls until their deadlines at the latest. */
  async close(withinMs: number): Promise<void> {
    this.#isClosing = true;
    if (!this.#thread.isStarted) {
      this.#noteEnd();
      return;
    }
    this.#thread.post({ type: 'close' });
    const timer = setTimeout(() => this.#giveUp(), Math.min(withinMs, this.#longestAnswerMs()));
    await this.#closed.promise;
    clearTimeout(timer);
  }

  /** A thread that hangs in a system call does not end even by force; `close` does not wait for it. */
  #giveUp(): void {
    this.#isGivenUp = true;
    this.#thread.abandon(() => this.#noteEnd());
    this.#closed.resolve();
  }

  #longestAnswerMs(): number {
    if (this.#settings.role === 'writer') return Number.POSITIVE_INFINITY;
    return Math.max(CLOSE_IDLE_MS, this.#outstanding.lastDeadline + GRACE_MS - performance.now());
  }
}
