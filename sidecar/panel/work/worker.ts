import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { PanelError } from '../panel-error.ts';
import type { FromThread, Task, ThreadWork } from './task.ts';
import { TASKS } from './tasks.ts';

const LOW_PRIORITY = 19;

/** On Linux the priority is the thread's own; elsewhere it would be that of the whole sidecar. */
function yieldToTheApi(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(LOW_PRIORITY);
  } catch {
    // A container may forbid it; the work is then as quick as all else.
  }
}

const send = (message: FromThread): void => parentPort?.postMessage(message);

async function run({ name, input }: ThreadWork): Promise<void> {
  const task = (TASKS as unknown as Record<string, Task>)[name];
  if (task === undefined) throw new Error(`there is no task ${name}`);
  const output = await task(input as never, (progress) => send({ type: 'progress', progress }));
  send({ type: 'done', output });
}

yieldToTheApi();
run(workerData as ThreadWork).catch((error: unknown) => {
  if (error instanceof PanelError) send({ type: 'refused', key: error.key, details: error.details });
  else {
    const { message, code } = error as NodeJS.ErrnoException;
    send({ type: 'failed', message, code: code ?? null });
  }
});
