import { EventEmitter } from 'node:events';
import { MessageChannel, type MessagePort, Worker as Thread, type WorkerOptions } from 'node:worker_threads';

/** Threads of one kind that wait at most; a sidecar has one writer and up to three readers. */
const MAX_IDLE = 6;
/** Each program that a thread has run may leave some memory behind. */
const MAX_RUNS = 200;
const HOST = new URL('./kept-thread-host.cjs', import.meta.url);

interface Host {
  readonly thread: Thread;
  /** Only those of one name and priority replace each other. */
  readonly kind: string;
  runs: number;
}

const idle: Host[] = [];

/** Ends the threads that wait: what starts next has new ones. */
export async function endKeptThreads(): Promise<void> {
  await Promise.all(idle.splice(0).map(({ thread }) => thread.terminate()));
}

/**
 * Stands for the `Worker` of `node:worker_threads` where a sidecar inside of a test starts SQLite (`built-sidecar.ts`): the same
 * program runs from its first line, with a port and settings of its own, in a thread whose last program has closed in order.
 * A new thread takes 0.1 s of a processor, and tests start thousands. A thread that failed or was ended is not used again.
 */
export class Worker extends EventEmitter {
  readonly #host: Host;
  readonly #port: MessagePort;
  /** Exit code of the thread, or null if it is free again. */
  readonly #over = Promise.withResolvers<number | null>();
  #hasEnded = false;

  constructor(program: URL, options: WorkerOptions) {
    super();
    this.#host = hostOf(program, options);
    this.#host.runs += 1;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.on('message', (message) => this.emit('message', message));
    // After its last message, also if the thread dies.
    const closed = new Promise((resolve) => port1.once('close', resolve));
    void Promise.all([this.#over.promise, closed]).then(([code]) => this.#end(code));
    const { thread } = this.#host;
    thread.on('message', this.#onFree).on('error', this.#onError).on('exit', this.#over.resolve);
    thread.postMessage({ workerData: options.workerData, port: port2 }, [port2]);
  }

  readonly #onFree = (): void => this.#over.resolve(null);

  readonly #onError = (error: unknown): void => {
    this.emit('error', error);
  };

  #end(code: number | null): void {
    this.#hasEnded = true;
    const { thread } = this.#host;
    thread.off('message', this.#onFree).off('error', this.#onError).off('exit', this.#over.resolve);
    if (code === null) giveBack(this.#host);
    this.emit('exit', code ?? 0);
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message);
  }

  unref(): void {
    this.#port.unref();
  }

  async terminate(): Promise<number> {
    if (this.#hasEnded) return 0;
    this.#host.runs = MAX_RUNS;
    return this.#host.thread.terminate();
  }
}

function hostOf(program: URL, { name = '', resourceLimits = {}, workerData }: WorkerOptions): Host {
  const kind = `${name} ${(workerData as { readonly isBackground: boolean }).isBackground}`;
  const at = idle.findLastIndex((host) => host.kind === kind);
  if (at >= 0) return idle.splice(at, 1)[0] as Host;
  const thread = new Thread(HOST, { name, resourceLimits, workerData: program.href });
  const host = { thread, kind, runs: 0 };
  thread.unref();
  thread.on('exit', () => {
    const ended = idle.indexOf(host);
    if (ended >= 0) idle.splice(ended, 1);
  });
  return host;
}

function giveBack(host: Host): void {
  const waiting = idle.filter(({ kind }) => kind === host.kind).length;
  if (waiting < MAX_IDLE && host.runs < MAX_RUNS) idle.push(host);
  else void host.thread.terminate();
}
