import type { EngineOptions, EngineStats } from '#engine/engine.ts';
import type { EngineLog, LogLevel } from '#engine/log.ts';
import type { SqliteSettings } from '#engine/settings.ts';
import { orLate } from '#sidecar/deadline.ts';
import { WorkerLink } from './link.ts';
import { type NewCall, newCall, type PendingCall } from './pending-call.ts';
import { ReadLanes } from './read-lanes.ts';

/** Precision of deadlines of calls whose worker does not answer. */
const SWEEP_MS = 50;
const PURGE_MS = 30_000;
/** How often an idle writer whose file is broken tries to open it. */
const REOPEN_MS = 1000;
const MAINTENANCE_TIMEOUT_MS = 10_000;
const CLOSE_MS = 10_000;
/** How long the start waits for the first attempt to open the file. */
const OPEN_MS = 5000;

/** The writer and the readers, each in its own thread, with their timers. */
export class WorkerPool {
  readonly #options: EngineOptions;
  readonly #writer: WorkerLink;
  readonly #readers: readonly WorkerLink[];
  readonly #lanes: ReadLanes;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #exitGuard = new ExitGuard(() => this.#hasStuckThread);
  #writeQueue: PendingCall[] = [];
  /** Runs while there are calls. */
  #sweeper: NodeJS.Timeout | null = null;
  #isWriterBroken = false;
  #isClosing = false;
  /** Reads that the writer answers. */
  #ownReads = 0;
  #commits = 0;
  #committedWrites = 0;
  #timeouts = 0;

  /** `onSilence`: a worker has not answered a call until its deadline. */
  constructor(
    { file, poolSize, leavesCheckpoints = false }: SqliteSettings,
    options: EngineOptions,
    onSilence: () => void,
  ) {
    const common = { file, leavesCheckpoints };
    this.#options = options;
    const onTimeout = (): void => {
      this.#timeouts += 1;
    };
    const { log } = options;
    this.#writer = new WorkerLink(
      { ...common, role: 'writer', isBackground: false },
      {
        log: (...line) => this.#logOfWriter(...line),
        ...{ onTimeout, onSilence },
        onAnswers: (_, commits) => this.#noteCommits(commits),
        isDiskFull: () => false,
      },
    );
    const readerEvents = {
      ...{ log, onTimeout, onSilence },
      onAnswers: (overBudget: readonly PendingCall[]): void => {
        this.#lanes.moveToSlow(overBudget);
        this.#lanes.flush();
      },
      isDiskFull: () => this.#writer.isDiskFull,
    };
    const readers = Array.from({ length: Math.max(1, poolSize - 1) });
    this.#readers = readers.map(
      (_, i) => new WorkerLink({ ...common, role: 'reader', isBackground: i > 0 }, readerEvents),
    );
    this.#lanes = new ReadLanes(this.#readers[0] as WorkerLink, this.#readers.slice(1), onTimeout);
    this.#timers = [
      setInterval(() => void this.#purge(), options.purgeIntervalMs ?? PURGE_MS).unref(),
      setInterval(() => this.#reopen(), REOPEN_MS).unref(),
    ];
  }

  /** Null, or why the file must not be used. A disk that does not answer must not delay the start forever. */
  async opened(): Promise<string | null> {
    const fault = await orLate(this.#writer.opened, OPEN_MS, undefined);
    if (fault === undefined) this.#options.log('error', 'database does not open', { seconds: OPEN_MS / 1000 });
    return fault ?? null;
  }

  /** Whether a thread has used the file: the disk answers. */
  get hasUsedFile(): boolean {
    return this.#writer.hasDone || this.#readers.some(({ hasDone }) => hasDone);
  }

  read(call: NewCall): Promise<unknown> {
    this.#beginSweeping();
    return new Promise((resolve, reject) => this.#lanes.add({ ...call, resolve, reject }));
  }

  /**
   * Small reads of the sidecar's own, such as those of a start and `ping`. Before the first reader has started they go to an
   * idle writer: its thread is there, and most sidecars with few finds never need another.
   */
  async readOwn(call: NewCall): Promise<unknown> {
    if (!this.#isWriterIdle) return this.read(call);
    this.#ownReads += 1;
    try {
      return await this.write(call);
    } finally {
      this.#ownReads -= 1;
    }
  }

  /** A read that was given up still counts as a call of the writer, so that the next one goes to a reader. */
  get #isWriterIdle(): boolean {
    if (this.#isWriterBroken || this.#readers.some(({ isStarted }) => isStarted)) return false;
    return this.#writeQueue.length + this.#writer.outstanding === this.#ownReads;
  }

  /** Writes of one turn of the event loop go out together, and share a commit. */
  write(call: NewCall): Promise<unknown> {
    this.#beginSweeping();
    return new Promise((resolve, reject) => {
      this.#writeQueue.push({ ...call, resolve, reject });
      if (this.#writeQueue.length > 1) return;
      setImmediate(() => {
        const calls = this.#writeQueue;
        this.#writeQueue = [];
        this.#writer.send(calls, null);
      });
    });
  }

  stats(): Omit<EngineStats, 'spotReads'> {
    return {
      waitingReads: this.#lanes.waiting,
      runningReads: this.#lanes.running,
      waitingWrites: this.#writeQueue.length + this.#writer.outstanding,
      commits: this.#commits,
      committedWrites: this.#committedWrites,
      timeouts: this.#timeouts,
    };
  }

  #noteCommits(commits: { readonly groups: number; readonly writes: number }): void {
    this.#commits += commits.groups;
    this.#committedWrites += commits.writes;
  }

  #logOfWriter(level: LogLevel, message: string, fields: Parameters<EngineLog>[2]): void {
    this.#isWriterBroken = level === 'error';
    this.#options.log(level, message, fields);
  }

  #beginSweeping(): void {
    this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  #endSweeping(): void {
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#sweeper = null;
  }

  #sweep(): void {
    const { waitingReads, runningReads, waitingWrites } = this.stats();
    if (waitingReads + runningReads + waitingWrites === 0) {
      this.#endSweeping();
      return;
    }
    const now = performance.now();
    this.#writer.sweep(now);
    for (const reader of this.#readers) reader.sweep(now);
    this.#lanes.sweep(now);
  }

  /** Repeats while there are expired records: each step is short, and writes run between steps. */
  async #purge(): Promise<void> {
    while (!this.#isClosing && (await this.#maintain({ kind: 'purge', now: this.#options.now() })) === true);
  }

  #reopen(): void {
    if (this.#isWriterBroken && this.#writer.outstanding === 0) void this.#maintain({ kind: 'ping' });
  }

  /** The worker itself logs failures. */
  async #maintain(body: NewCall['body']): Promise<unknown> {
    const deadline = performance.now() + MAINTENANCE_TIMEOUT_MS;
    try {
      return await this.write({ ...newCall(body, { deadline }), isLong: true });
    } catch {
      return null;
    }
  }

  /** Calls that were accepted before still run. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#endSweeping();
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all(this.#readers.map((reader) => reader.close(CLOSE_MS)));
    // The writer closes last, so that its connection folds the log into the file.
    await this.#writer.close(CLOSE_MS);
    if (!this.#hasStuckThread) this.#exitGuard.release();
    else this.#options.log('error', 'database thread does not end: the process will be ended by force', {});
  }

  get #hasStuckThread(): boolean {
    return [this.#writer, ...this.#readers].some((link) => link.hasStuckThread);
  }
}

/**
 * On exit Node.js waits for all its threads, even for one that never returns from SQLite. While there is such a thread the
 * exit becomes a kill: by then all data is saved, or it never would be.
 */
export class ExitGuard {
  readonly #onExit: () => void;

  constructor(hasStuckThread: () => boolean) {
    this.#onExit = () => {
      if (hasStuckThread()) process.kill(process.pid, 'SIGKILL');
    };
    process.on('exit', this.#onExit);
  }

  release(): void {
    process.off('exit', this.#onExit);
  }
}
