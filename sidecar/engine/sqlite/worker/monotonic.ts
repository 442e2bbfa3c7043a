/**
 * Milliseconds of the machine's monotonic clock, for deadlines that cross threads: equal in every thread of the process,
 * unlike `performance.now()`.
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A deadline of this thread's `performance.now()` as one of the shared clock. */
export function sharedDeadline(deadline: number): number {
  return monotonicMs() + (deadline - performance.now());
}

/** A deadline of the shared clock as one of this thread's `performance.now()`. */
export function ownDeadline(deadline: number): number {
  return performance.now() + (deadline - monotonicMs());
}

const FADING = 0.7;

/** Expected time of the next run of a statement: its last run, or a slower earlier one that fades. */
export function expectedMs(ranMs: number, before: number | null): number {
  return Math.max(ranMs, (before ?? 0) * FADING);
}
