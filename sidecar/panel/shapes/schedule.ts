/** Times of an entry: on days of the week (1 is Monday) at local times, once, or counted from the server's start. */
export type When =
  | { readonly kind: 'weekly'; readonly days: readonly number[]; readonly times: readonly string[] }
  | { readonly kind: 'once'; readonly at: string }
  | { readonly kind: 'every'; readonly hours: number };

export const SCHEDULE_ACTIONS = ['restart', 'stop', 'start', 'command', 'backup'] as const;
export type ScheduleAction = (typeof SCHEDULE_ACTIONS)[number];

export type RunResult = 'done' | 'skipped' | 'missed' | 'notRunning' | 'busy' | 'failed';

export interface ScheduleEntry {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly when: When;
  /** IANA name. */
  readonly timeZone: string;
  readonly action: ScheduleAction;
  /** Line of a `command`, else empty. */
  readonly text: string;
  /** Whether the players are warned before a restart or a stop. */
  readonly warn: boolean;
  readonly lastRun: { readonly at: string; readonly result: RunResult } | null;
}

/** The nearest restart. A delay moves `at`, never `plannedAt`. */
export interface PlannedRestart {
  readonly id: string;
  readonly name: string;
  readonly action: ScheduleAction;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly plannedAt: string;
  /** Other work that comes first; null: none. */
  readonly waitsFor: 'job' | 'backup' | 'gate' | null;
}

export interface ScheduleAnswer {
  readonly now: string;
  readonly entries: readonly ScheduleEntry[];
  readonly next: PlannedRestart | null;
}

/** `gap`: the local time is left out by daylight saving; `twice`: it comes twice, and this is the first. */
export type TimeNote = 'gap' | 'twice' | null;

export interface PreviewedTime {
  readonly at: string;
  /** With the offset: `2031-03-30T03:00+02:00`. */
  readonly local: string;
  readonly note: TimeNote;
}
