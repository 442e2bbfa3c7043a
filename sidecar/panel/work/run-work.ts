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

/**
 * Runs a task of `tasks.ts` in a thread of its own and of low priority, for work that reads or writes many files.
 *
 * @throws PanelError or Error of the task; the reason of the signal
 */
export async function runWork<Name extends keyof Tasks>(
  name: Name,
  input: InputOf<Name>,
  { signal, onProgress }: WorkOptions = {},
): Promise<OutputOf<Name>> {
  signal?.throwIfAborted();
  const workerData: ThreadWork = { name, input };
  const worker = new Worker(WORKER_URL, { workerData, name: `panel-${name}`, resourceLimits: RESOURCE_LIMITS });
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
    return await promise;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await worker.terminate();
  }
}

function errorOf(message: Extract<FromThread, { type: 'refused' | 'failed' }>): Error {
  if (message.type === 'refused') return new PanelError(message.key, message.details);
  return Object.assign(new Error(message.message), message.code === null ? {} : { code: message.code });
}
