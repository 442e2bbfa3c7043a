import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { describeIf } from '../support/describe-if.ts';
import { OwnTime } from './own-time.ts';

const BOUND_MS = 300;
/** A process that answers each line after so many milliseconds of processor time of its main thread, while threads of its own work too. */
const PROGRAM = `
const { readFileSync } = require('node:fs');
const { Worker } = require('node:worker_threads');
const ranMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
const startThread = () => new Promise((resolve) => {
  const thread = new Worker('require("node:worker_threads").parentPort.postMessage(0); for (;;);', { eval: true });
  thread.once('message', () => resolve(thread));
});
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const [ms, threads, isLast] = line.split(' ').map(Number);
  const own = await Promise.all(Array.from({ length: threads }, startThread));
  for (const start = ranMs(); ranMs() - start < ms; );
  if (isLast) process.exit();
  console.log('done');
  for (const thread of own) void thread.terminate();
});
`;

/** Asks a new process for `ms` of work beside so many threads of its own; `isLast`: it ends with the work. */
async function askForWork(ms: number, threads: number, isLast = false) {
  const child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const time = new OwnTime(child.pid as number);
  onTestFinished(() => {
    time.stop();
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout });
  const ask = (line: string) =>
    time.of(async () => {
      child.stdin.write(`${line}\n`);
      await once(lines, 'line');
    });
  await ask('0 0');
  if (!isLast) return ask(`${ms} ${threads}`);
  return time.ofEnd(async () => {
    child.stdin.write(`${ms} ${threads} 1\n`);
    await once(child, 'close');
  });
}

/** Other processes that want every processor, until the end of the test. */
function burnProcessors(): void {
  for (let each = 0; each < 3 * availableParallelism(); each += 1) {
    const burner = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
    onTestFinished(() => void burner.kill('SIGKILL'));
  }
}

const whyNot = existsSync('/proc/self/schedstat') ? null : 'this system does not count how long threads wait';

describeIf(whyNot, 'the judge of attacks', () => {
  it('does not blame a process for a processor that others have', async () => {
    burnProcessors();
    const { seenMs, ownMs } = await askForWork(150, 0);
    // Three others want each processor.
    expect(ownMs).toBeLessThan(seenMs / 2);
  });

  it('does not blame a process that ends for it either', async () => {
    burnProcessors();
    const { seenMs, ownMs } = await askForWork(150, 0, true);
    expect(ownMs).toBeLessThan(seenMs / 2);
  });

  it('blames a process that ends for a stall of its own', async () => {
    burnProcessors();
    const { ownMs } = await askForWork(600, 0, true);
    expect(ownMs).toBeGreaterThanOrEqual(BOUND_MS);
  });

  it.each([
    { what: 'a stall of its own', isBusy: false, ms: 600, threads: 0 },
    { what: 'a stall of its own on a busy machine', isBusy: true, ms: 600, threads: 0 },
    {
      what: 'threads of its own that take every processor',
      isBusy: false,
      ms: 200,
      threads: 4 * availableParallelism(),
    },
  ])('blames it for $what', async ({ isBusy, ms, threads }) => {
    if (isBusy) burnProcessors();
    const { ownMs } = await askForWork(ms, threads);
    expect(ownMs).toBeGreaterThanOrEqual(BOUND_MS);
  });
});
