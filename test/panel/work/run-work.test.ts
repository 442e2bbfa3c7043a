import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runWork } from '#panel/work/run-work.ts';
import { testFolder } from '#support/test-folder.ts';

/** Threads that started in this test. */
let started: Worker[] = [];
const onWorker = (worker: Worker) => started.push(worker);

const seal = (signal?: AbortSignal) =>
  runWork('seal-folder', { folder: testFolder(), carry: null }, signal === undefined ? {} : { signal });

beforeEach(async () => {
  await seal();
  started = [];
  process.on('worker', onWorker);
});
afterEach(() => {
  process.off('worker', onWorker);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('runs the next task in the thread of the last one, whatever it is', async () => {
  const folder = join(testFolder(), 'shop');
  mkdirSync(folder);
  writeFileSync(join(folder, 'goods.txt'), 'x');
  const { files, count } = await runWork('seal-folder', { folder, carry: null });
  const edited = await runWork('compare-folder', { folder, files });
  await runWork('remove-folder', { folder });
  expect([count, edited, existsSync(folder), started]).toEqual([1, [], false, []]);
});

it('runs tasks at once in threads of their own, and keeps one of them', async () => {
  const ends = vi.spyOn(Worker.prototype, 'terminate');
  await Promise.all([seal(), seal(), seal()]);
  expect([started.length, ends.mock.calls.length]).toEqual([2, 2]);
  await seal();
  expect(started.length).toBe(2);
});

it('ends the thread of a task that is cancelled or fails', async () => {
  const abort = new AbortController();
  const work = seal(abort.signal);
  abort.abort(new Error('enough'));
  await expect(work).rejects.toThrow('enough');
  expect(started.length).toBe(0);
  const missing = { file: join(testFolder(), 'none.zip'), targets: new Map() };
  await expect(runWork('unpack-zip', missing)).rejects.toMatchObject({ key: 'upload.archive' });
  expect(started.length).toBe(1);
  await seal();
  expect(started.length).toBe(2);
});

it('ends an idle thread after some seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await seal();
  expect(started).toEqual([]);
  vi.advanceTimersByTime(5000);
  await seal();
  expect(started.length).toBe(1);
});

it('does not hold the process with an idle thread', async () => {
  const module = new URL('../../../sidecar/panel/work/run-work.ts', import.meta.url).href;
  const program = `
    import { runWork } from ${JSON.stringify(module)};
    // The thread then stays forever.
    globalThis.setTimeout = () => ({ unref: () => null });
    await runWork('remove-folder', { folder: ${JSON.stringify(join(testFolder(), 'none'))} });
    console.log('done');`;
  const file = join(testFolder(), 'program.mjs');
  writeFileSync(file, program);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toBe('done\n');
});
