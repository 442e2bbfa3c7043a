import { readFileSync } from 'node:fs';
import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

/**
 * Preloaded into a sidecar under test (`preloads.ts`): its clock is ahead by the milliseconds in the file that
 * `CLOCK_FILE` names, which is read again at each SIGUSR2. The monotonic clock goes on.
 */

const file = process.env.CLOCK_FILE ?? '';
const realNow = Date.now;
let aheadMs = 0;

const readAhead = (): void => {
  aheadMs = Number(readFileSync(file, 'utf8'));
};

readAhead();
if (isMainThread) process.on('SIGUSR2', readAhead);
Date.now = () => realNow() + aheadMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget) as object,
});
