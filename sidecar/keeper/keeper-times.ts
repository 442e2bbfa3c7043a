/** Waits of the keeper. */
export interface KeeperTimes {
  /** A new release reports that it serves. */
  readonly readyMs: number;
  /** After that it answers for so long, each question within `answerMs`. */
  readonly provenMs: number;
  readonly askEveryMs: number;
  readonly answerMs: number;
  /** A sidecar that lets go for an update ends: its calls finish, and what is queued is written. */
  readonly letGoMs: number;
  /** A release that ends so often by itself after its commit is taken back. */
  readonly ends: { readonly count: number; readonly withinMs: number };
  /** Pause before a sidecar that has ended is started again: doubled each time, short again after a steady run. */
  readonly pauseMs: { readonly first: number; readonly longest: number; readonly steady: number };
}

export const KEEPER_TIMES: KeeperTimes = {
  readyMs: 60_000,
  provenMs: 10_000,
  askEveryMs: 1000,
  answerMs: 5000,
  letGoMs: 120_000,
  ends: { count: 3, withinMs: 600_000 },
  pauseMs: { first: 1000, longest: 30_000, steady: 60_000 },
};
