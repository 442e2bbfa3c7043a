import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts';

export interface ThreadEvents {
  readonly onMessage: (message: FromWorker) => void;
  readonly onError: (error: Error) => void;
  readonly onExit: () => void;
}

/** Workers do not keep rows: a small young generation limits the memory of all threads together. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 };
const FROM_SOURCE = import.meta.url.endsWith('.ts');
/** Beside this file in the sources, beside `main.js` in the build. */
const WORKER_URL = new URL(FROM_SOURCE ? './worker.ts' : './sqlite-worker.js', import.meta.url);

let threads = 0;

/**
 * A worker thread of a link, until it ends. The writer starts at once: it makes the file that readers need. A reader starts at
 * its first message: most finds are answered on the spot, and a thread costs time at the start and memory.
 */
export class WorkerThread {
  /** Statements are sent to each thread once, by this number. */
  readonly number = ++threads;
  readonly #settings: WorkerSettings;
  readonly #events: ThreadEvents;
  readonly #started: BigInt64Array;
  #worker: Worker | null = null;
  #onExit: () => void;
  #isAbandoned = false;

  constructor(settings: Omit<WorkerSettings, 'started'>, events: ThreadEvents) {
    const started = new SharedArrayBuffer(8);
    this.#settings = { ...settings, started };
    this.#started = new BigInt64Array(started);
    this.#events = events;
    this.#onExit = events.onExit;
    if (settings.role === 'writer') this.#worker = this.#start();
  }

  #start(): Worker {
    const { onMessage, onError } = this.#events;
    const worker = new Worker(WORKER_URL, {
      workerData: this.#settings,
      name: `sqlite-${this.#settings.role}`,
      resourceLimits: RESOURCE_LIMITS,
    });
    worker.on('message', (message: FromWorker) => {
      if (!this.#isAbandoned) onMessage(message);
    });
    worker.on('error', (error: Error) => {
      if (!this.#isAbandoned) onError(error);
    });
    worker.on('exit', () => this.#onExit());
    return worker;
  }

  /** Whether there is a thread that will end. */
  get isStarted(): boolean {
    return this.#worker !== null;
  }

  post(message: ToWorker): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
  }

  /**
   * Sequence of the call that started last. The worker publishes it before it checks the deadline: a call that is not
   * published by its deadline never runs.
   */
  get lastStarted(): number {
    return Number(Atomics.load(this.#started, 0));
  }

  /**
   * Ends the thread as soon as it leaves SQLite, which cannot be interrupted from outside. Its later messages are ignored,
   * and it does not keep the process alive.
   */
  abandon(onExit: () => void): void {
    this.#isAbandoned = true;
    this.#onExit = onExit;
    this.#worker?.unref();
    void this.#worker?.terminate();
  }
}
