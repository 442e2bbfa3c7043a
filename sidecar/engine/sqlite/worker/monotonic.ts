/**
 * Milliseconds of the machine's steady clock: the same in every thread of the process, which `performance.now()` is
 * not. Deadlines cross threads in it.
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

/** What a statement is expected to take next: its last run, or a slower one before that fades. */
export function expectedMs(ranMs: number, before: number | null): number {
  return Math.max(ranMs, (before ?? 0) * FADING);
}
