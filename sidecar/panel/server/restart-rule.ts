/** Panel contract, "Values": after 1 s, doubling, at most 60 s, 5 starts in any 10 minutes. */
const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
const MAX_STARTS = 5;
const WINDOW_MS = 600_000;

/** Starts of a server by the panel itself, after crashes and hangs. A start by hand begins a new history. */
export interface StartHistory {
  /** On the monotonic clock, the newest last. */
  readonly startedAtMonotonicMs: readonly number[];
  /** Since the server last ran well, or was started by hand. */
  readonly crashesInARow: number;
}

export const NO_STARTS: StartHistory = { startedAtMonotonicMs: [], crashesInARow: 0 };

export interface RestartDecision {
  readonly starts: StartHistory;
  /** Wait before the next start; null: started too often, the server stays as it is. */
  readonly waitMs: number | null;
}

/** Whether and when a server that has crashed or hangs is started again. */
export function decideRestart(starts: StartHistory, ranMs: number, nowMonotonicMs: number): RestartDecision {
  const crashes = ranMs >= WINDOW_MS ? 0 : starts.crashesInARow;
  const startedAtMonotonicMs = starts.startedAtMonotonicMs.filter((at) => at > nowMonotonicMs - WINDOW_MS);
  if (startedAtMonotonicMs.length >= MAX_STARTS) {
    return { starts: { startedAtMonotonicMs, crashesInARow: crashes }, waitMs: null };
  }
  const waitMs = Math.min(FIRST_MS * 2 ** crashes, LONGEST_MS);
  return { starts: { startedAtMonotonicMs, crashesInARow: crashes + 1 }, waitMs };
}

export function withStart(starts: StartHistory, nowMonotonicMs: number): StartHistory {
  return { ...starts, startedAtMonotonicMs: [...starts.startedAtMonotonicMs, nowMonotonicMs] };
}
