import type { Run } from './bundle.ts';
import { describeError } from './failures.ts';

/** Calls a bundle's stop function and waits for it. Resolves, at the latest at the limit, with what went wrong, if anything. */
export async function endRun(run: Run, limitMs: number): Promise<string> {
  const ended = Promise.withResolvers<string>();
  const timer = setTimeout(() => ended.resolve(`did not end within ${(limitMs / 1000).toFixed(1)} s`), limitMs);
  callStop(run).then(
    () => ended.resolve(''),
    (error: unknown) => ended.resolve(`threw: ${describeError(error)}`),
  );
  const trouble = await ended.promise;
  clearTimeout(timer);
  return trouble;
}

/** What it throws at once rejects as well. */
async function callStop(run: Run): Promise<void> {
  await run.stop?.();
}
