import { parentPort } from 'node:worker_threads';
import { LOWEST, lowerThreadPriority } from '#sidecar/lower-priority.ts';
import { PanelError } from '../panel-error.ts';
import type { FromThread, Task, ThreadWork } from './task.ts';
import { TASKS } from './tasks.ts';

const send = (message: FromThread): void => parentPort?.postMessage(message);

async function run({ name, input }: ThreadWork): Promise<void> {
  const task = (TASKS as unknown as Record<string, Task>)[name];
  if (task === undefined) throw new Error(`there is no task ${name}`);
  const output = await task(input as never, (progress) => send({ type: 'progress', progress }));
  send({ type: 'done', output });
}

// The API goes first.
lowerThreadPriority(LOWEST);
parentPort?.on('message', (work: ThreadWork) => {
  run(work).catch((error: unknown) => {
    if (error instanceof PanelError) send({ type: 'refused', key: error.key, details: error.details });
    else {
      const { message, code } = error as NodeJS.ErrnoException;
      send({ type: 'failed', message, code: code ?? null });
    }
  });
});
