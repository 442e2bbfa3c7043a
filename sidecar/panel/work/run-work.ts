import { Worker } from 'node:worker_threads';
import { PanelError } from '../panel-error.ts';
import type { FromThread, Report, ThreadWork } from './task.ts';
import type { TASKS } from './tasks.ts';

/** The panel's thread serves the API; a thread of this work takes little memory beside it. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 192 };
const FROM_SOURCE = import.meta.url.endsWith('.ts');
/** Beside this file in the sources, beside `main.js` in the build. */
const WORKER_URL = new URL(FROM_SOURCE ? './worker.ts' : './panel-worker.js', import.meta.url);

type Tasks = typeof TASKS;
type InputOf<Name extends keyof Tasks> = Parameters<Tasks[Name]>[0];
type OutputOf<Name extends keyof Tasks> = Awaited<ReturnType<Tasks[Name]>>;

export interface WorkOptions {
  /** Ends the thread, wherever it is. */
  readonly signal?: AbortSignal;
  readonly onProgress?: Report;
}

/** A thread costs as much processor time as many tasks, and those of an install, update or backup follow each other. */
const IDLE_MS = 5000;
let idle: { readonly worker: Worker; readonly timer: NodeJS.Timeout } | null = null;

/**
 * Runs a task of `tasks.ts` in a thread of low priority that runs nothing else meanwhile, for work that reads or writes many
 * files. The thread of a task that has succeeded waits some seconds for the next one.
 *
 * @throws PanelError or Error of the task; the reason of the signal
 */
export async function runWork<Name extends keyof Tasks>(
  name: Name,
  input: InputOf<Name>,
  { signal, onProgress }: WorkOptions = {},
): Promise<OutputOf<Name>> {
  signal?.throwIfAborted();
  const worker = takeThread();
  const { promise, resolve, reject } = Promise.withResolvers<OutputOf<Name>>();
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  worker.on('message', (message: FromThread) => {
    if (message.type === 'progress') onProgress?.(message.progress);
    else if (message.type === 'done') resolve(message.output as OutputOf<Name>);
    else reject(errorOf(message));
  });
  worker.on('error', reject);
  worker.on('exit', () => reject(new Error(`the thread for ${name} ended early`)));
  try {
    const work: ThreadWork = { name, input };
    worker.postMessage(work);
    const output = await promise;
    keepThread(worker);
    return output;
  } catch (error) {
    await worker.terminate();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

function takeThread(): Worker {
  if (idle === null) return new Worker(WORKER_URL, { name: 'panel-work', resourceLimits: RESOURCE_LIMITS });
  const { worker, timer } = idle;
  idle = null;
  clearTimeout(timer);
  forget(worker);
  worker.ref();
  return worker;
}

/** Keeps one thread only, as tasks at the same time are rare. An idle thread does not hold the process. */
function keepThread(worker: Worker): void {
  const end = () => {
    if (idle?.worker === worker) idle = null;
    void worker.terminate();
  };
  forget(worker);
  if (idle !== null) {
    end();
    return;
  }
  worker.on('error', end);
  worker.on('exit', end);
  worker.unref();
  idle = { worker, timer: setTimeout(end, IDLE_MS).unref() };
}

/** Node.js has listeners of its own, for other events, which must stay. */
function forget(worker: Worker): void {
  for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event);
}

function errorOf(message: Extract<FromThread, { type: 'refused' | 'failed' }>): Error {
  if (message.type === 'refused') return new PanelError(message.key, message.details);
  return Object.assign(new Error(message.message), message.code === null ? {} : { code: message.code });
}
