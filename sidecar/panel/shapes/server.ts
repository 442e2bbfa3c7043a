export type ServerState = 'stopped' | 'starting' | 'running' | 'stopping' | 'crashed';

export interface PlanStep {
  readonly action: 'ask' | 'terminate' | 'kill' | 'start';
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
}

/** Next steps of the server control, with their times. */
export interface Plan {
  readonly steps: readonly PlanStep[];
  /** Index of the step that comes next; `steps.length` where all are done. */
  readonly next: number;
}

export interface ServerExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason: 'asked' | 'crash' | 'spawn';
}

/** The inner object of `GET /api/status` and of the event `status`. */
export interface ServerStatus {
  readonly state: ServerState;
  readonly pid: number | null;
  readonly serverRoot: string;
  readonly startedAt: string | null;
  /** End of the last run. */
  readonly exit: ServerExit | null;
  readonly plan: Plan | null;
  /** `none` has no server control. */
  readonly backend: Backend;
  /** It has said and answered nothing since then; null while it is well. */
  readonly hungSince: string | null;
  /** Why it is not started again after a crash; null else, also where autostart is off. */
  readonly gaveUp: GaveUp | null;
  /** Why the last start failed: English, without a period; null else. */
  readonly failure: string | null;
  /** Setting without which the server cannot start; null if it is configured or runs. */
  readonly missing: 'startLine' | 'serverRoot' | null;
}

/** `crashes`: too often in ten minutes. `launch`: it cannot be started as it is configured; the console says why. */
export type GaveUp = 'crashes' | 'launch';

export const BACKENDS = ['standalone', 'fxserver', 'command', 'none'] as const;
export type Backend = (typeof BACKENDS)[number];

export type ServerAction = 'start' | 'stop' | 'restart' | 'force-stop';
