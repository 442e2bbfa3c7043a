import type { ConsoleLine } from './console.ts';
import type { ServerExit } from './server.ts';

/** One of `GET /api/crashes`, the newest first. */
export interface CrashSummary {
  readonly id: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly startedAt: string | null;
  readonly exit: ServerExit;
  /** Why it could not even be started, in the system's words; null where it ran. */
  readonly failure: string | null;
  /** It had come up before. */
  readonly wasUp: boolean;
}

/** What an account did not long before. */
export interface CrashAction {
  readonly time: string;
  readonly username: string;
  readonly action: string;
  readonly subject: string;
  readonly result: string;
}

/** `GET /api/crashes/{id}`: what somebody wants to know who was asleep. */
export interface CrashRecord extends CrashSummary {
  /** The last lines of the console, at most 500. */
  readonly lines: readonly ConsoleLine[];
  /** Bundles that were starting. */
  readonly starting: readonly string[];
  readonly actions: readonly CrashAction[];
  /** What is other than when the server last ran well, such as `bundle shop`; null where that is not known. */
  readonly changes: readonly string[] | null;
}
