/** Ends a timer; a second time does nothing. */
export type Cancel = () => void;

/** All that the connector needs of time; tests bring their own. */
export interface Timers {
  /** Epoch milliseconds of this machine. */
  now(): number;
  /** Milliseconds that only grow, for durations. */
  elapsed(): number;
  after(delayMs: number, run: () => void): Cancel;
  every(periodMs: number, run: () => void): Cancel;
  /** Runs once the socket data that already waits has been read. */
  afterReads(run: () => void): Cancel;
}

export const SYSTEM_TIMERS: Timers = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  every(periodMs, run) {
    const timer = setInterval(run, periodMs);
    return () => clearInterval(timer);
  },
  afterReads(run) {
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  },
};
