import type { ConsoleLine } from './console.ts';
import type { ServerExit } from './server.ts';

/** Crash of `GET /api/crashes`, the newest first. */
export interface CrashSummary {
  readonly id: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly time: string;
  readonly startedAt: string | null;
  readonly exit: ServerExit;
  /** Why the server could not be started, in the system's words; null if it ran. */
  readonly failure: string | null;
  /** It had come up before. */
  readonly wasUp: boolean;
}

/** Action of an account shortly before the crash. */
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
  /** Differences from the last good run, such as `bundle shop`; null if they are not known. */
  readonly changes: readonly string[] | null;
  /** New versions of bundles that had not proven themselves, and go back; null for none. */
  readonly note: string | null;
}
