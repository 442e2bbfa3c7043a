/** Time as write-behind knows it, so that a simulation can have its own. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds from any beginning, which never go back. */
  monotonicNow(): number;
  /** Returns what calls it off. It keeps no process alive. */
  setTimeout(run: () => void, ms: number): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimeout: (run, ms) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
