import { Worker } from 'node:worker_threads';
import { ApiError } from '../../../db_connector/protocol/errors.ts';
import { type EngineLog, StaleSchemaError } from '../engine.ts';
import { faultPlace } from '../fault-place.ts';
import type {
  Answer,
  BatchQuestion,
  BatchReply,
  Call,
  Failure,
  FromWorker,
  StatementDefinition,
  Told,
  WorkerSettings,
} from './messages.ts';
import { sharedDeadline } from './monotonic.ts';
import type { BookedStatement } from './statement-book.ts';

/** A union without some of its members' properties. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export type CallBody = DistributiveOmit<Call, 'sequence' | 'deadline' | 'budgetMs'>;

/** Replies to what the worker asks; with all statements that the call needs from there on. */
export type TellSteps = (question: BatchQuestion) => {
  readonly steps: BatchReply;
  readonly statements: Iterable<BookedStatement>;
};

/** A call before it is given to a worker. */
export interface PendingCall {
  readonly body: CallBody;
  readonly statements: readonly BookedStatement[];
  /** Known to take its time before it ever ran. */
  readonly isLong: boolean;
  /** Of `performance.now()`. */
  readonly deadline: number;
  /** Of a batch with operations that need ids of earlier ones. */
  readonly tell?: TellSteps;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Transactions of data, and the writes that were answered after them. */
export interface Commits {
  readonly groups: number;
  readonly writes: number;
}

export interface LinkEvents {
  /** After every message of answers; calls are settled already, but for those that went over their budget. */
  readonly onAnswers: (overBudget: readonly PendingCall[], commits: Commits) => void;
  readonly onTimeout: () => void;
  readonly log: EngineLog;
}

/** A worker that does not come back by itself is given up this long after a call's deadline. */
const GRACE_MS = 400;
const RESTART_MS = 200;
/** Rows pass through and are not kept: a small nursery holds the memory of all threads together down. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 };
const FROM_SOURCE = import.meta.url.endsWith('.ts');
/** Beside this file in the sources, beside `main.js` in the build. */
const WORKER_URL = new URL(FROM_SOURCE ? './worker.ts' : './sqlite-worker.js', import.meta.url);

interface Outstanding {
  readonly pending: PendingCall;
  isGivenUp: boolean;
}

let links = 0;

/** One worker thread as the API's thread sees it: calls go in batches, answers settle them, deadlines hold in any case. */
export class WorkerLink {
  readonly #settings: Omit<WorkerSettings, 'started'>;
  readonly #events: LinkEvents;
  readonly #outstanding = new Map<number, Outstanding>();
  #worker: Worker;
  #started: BigInt64Array;
  #number = 0;
  #sequence = 0;
  #isClosing = false;
  #opened = Promise.withResolvers<string | null>();
  #closed = Promise.withResolvers<void>();

  constructor(settings: Omit<WorkerSettings, 'started'>, events: LinkEvents) {
    this.#settings = settings;
    this.#events = events;
    [this.#worker, this.#started] = this.#spawn();
  }

  #spawn(): [Worker, BigInt64Array] {
    this.#number = ++links;
    const started = new SharedArrayBuffer(8);
    const workerData: WorkerSettings = { ...this.#settings, started };
    const worker = new Worker(WORKER_URL, {
      workerData,
      name: `sqlite-${this.#settings.role}`,
      resourceLimits: RESOURCE_LIMITS,
    });
    worker.on('message', (message: FromWorker) => this.#receive(message));
    worker.on('error', (error) => this.#events.log('error', 'database worker failed', { problem: faultPlace(error) }));
    worker.on('exit', () => this.#onExit());
    return [worker, new BigInt64Array(started)];
  }

  /** Null, or why the file must not be used; after the first attempt to open it. */
  get opened(): Promise<string | null> {
    return this.#opened.promise;
  }

  /** Calls that the worker has, given up or not. */
  get outstanding(): number {
    return this.#outstanding.size;
  }

  send(calls: readonly PendingCall[], budgetMs: number | null): void {
    const definitions: StatementDefinition[] = [];
    const numbered = calls.map((pending) => {
      // A batch may have more different statements than the worker keeps, so it brings all of them along.
      const isWhole =
        pending.body.kind === 'apply' || (pending.body.kind === 'write' && pending.body.work.do === 'batch');
      for (const statement of pending.statements) this.#define(statement, definitions, isWhole);
      const sequence = ++this.#sequence;
      this.#outstanding.set(sequence, { pending, isGivenUp: false });
      return { ...pending.body, sequence, deadline: sharedDeadline(pending.deadline), budgetMs };
    });
    this.#worker.postMessage({ type: 'batch', definitions, calls: numbered });
  }

  #define(statement: BookedStatement, definitions: StatementDefinition[], isAgain: boolean): void {
    if (statement.knownBy.has(this.#number) && !isAgain) return;
    statement.knownBy.add(this.#number);
    definitions.push({ number: statement.number, sql: statement.sql, columns: statement.columns });
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'answers':
        this.#settle(message.answers, message.commits);
        break;
      case 'ask':
        this.#tell(message.sequence, message);
        break;
      case 'log':
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
    const definitions: StatementDefinition[] = [];
    for (const statement of told?.statements ?? []) this.#define(statement, definitions, true);
    const reply: Told = { type: 'told', sequence, definitions, steps: told?.steps ?? [] };
    this.#worker.postMessage(reply);
  }

  #settle(answers: readonly Answer[], commits: number): void {
    const overBudget: PendingCall[] = [];
    for (const { sequence, value, failure, ranMs } of answers) {
      const outstanding = this.#outstanding.get(sequence);
      if (outstanding === undefined) continue;
      this.#outstanding.delete(sequence);
      const { pending } = outstanding;
      for (const statement of pending.statements) noteCost(statement, ranMs);
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
    if (failure.code === 'database_timeout') this.#events.onTimeout();
    pending.reject(new ApiError(failure.code, failure.message, { index: failure.index }));
  }

  /** To be called now and then: answers those whose worker does not come back, which a wedged disk may cause. */
  sweep(now: number): void {
    for (const [sequence, outstanding] of this.#outstanding) {
      if (outstanding.isGivenUp || outstanding.pending.deadline + GRACE_MS > now) continue;
      outstanding.isGivenUp = true;
      this.#events.onTimeout();
      outstanding.pending.reject(this.#lost(sequence, 'database_timeout'));
    }
  }

  /**
   * The worker publishes the number of a call and looks at its deadline afterwards. So one that is not published after
   * its deadline never runs.
   */
  #lost(sequence: number, code: 'database_timeout' | 'database_error'): ApiError {
    const mayHaveRun = Atomics.load(this.#started, 0) >= BigInt(sequence);
    if (mayHaveRun && this.#settings.role === 'writer') {
      return new ApiError(code, 'the database does not answer: the outcome is unknown');
    }
    return new ApiError(code, 'the database does not answer; nothing was changed');
  }

  #onExit(): void {
    if (this.#isClosing) {
      this.#closed.resolve();
      return;
    }
    const lost = [...this.#outstanding];
    this.#outstanding.clear();
    for (const [sequence, { pending, isGivenUp }] of lost) {
      if (!isGivenUp) pending.reject(this.#lost(sequence, 'database_error'));
    }
    this.#events.log('warn', 'database worker is started again', { role: this.#settings.role });
    setTimeout(() => this.#restart(), RESTART_MS).unref();
  }

  #restart(): void {
    if (this.#isClosing) {
      this.#closed.resolve();
      return;
    }
    [this.#worker, this.#started] = this.#spawn();
    const calls = [...this.#outstanding.values()].map(({ pending }) => pending);
    this.#outstanding.clear();
    if (calls.length > 0) this.send(calls, null);
    this.#events.onAnswers([], { groups: 0, writes: 0 });
  }

  /** Ends what waits and runs by its deadline at the latest. */
  async close(withinMs: number): Promise<void> {
    this.#isClosing = true;
    this.#worker.postMessage({ type: 'close' });
    // A thread that hangs in the system does not even end by force; the process does not wait for it.
    const timer = setTimeout(() => {
      void this.#worker.terminate();
      this.#closed.resolve();
    }, withinMs);
    await this.#closed.promise;
    clearTimeout(timer);
  }
}

const FADING = 0.7;

/** The last run, or a worse one before that fades. */
function noteCost(statement: BookedStatement, ranMs: number): void {
  statement.costMs = Math.max(ranMs, (statement.costMs ?? 0) * FADING);
}
