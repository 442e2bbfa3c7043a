/** What is left at least for what comes after the drain. */
const MAX_RESERVE_MS = 5000;

/** Until when a call waits for older queued writes: a quarter of its time, at most 5 s, is left for its own work. */
export function drainDeadline({ deadline }: { readonly deadline: number }): number {
  return deadline - Math.min(MAX_RESERVE_MS, Math.max(0, deadline - performance.now()) / 4);
}
