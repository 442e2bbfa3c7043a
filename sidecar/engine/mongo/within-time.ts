import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '#protocol/errors.ts';
import type { CallBounds } from '../rows.ts';

/** Waits for what others wait for too, and what goes on when the time of this call is over. */
export async function within(work: Promise<void>, { deadline }: CallBounds): Promise<void> {
  const timer = new AbortController();
  const late = delay(Math.max(0, deadline - performance.now()), null, { signal: timer.signal }).then(() => {
    throw new ApiError('database_timeout', 'the database did not answer in time');
  });
  // Whoever loses the race must not be an unhandled rejection.
  late.catch(() => {});
  work.catch(() => {});
  try {
    await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
