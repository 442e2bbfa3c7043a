import type { SettingValues } from '../settings/panel-settings.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import type { GaveUp, ServerExit } from '../shapes/server.ts';
import type { ProcessExit } from './process/game-process.ts';
import { NO_STARTS, type StartHistory } from './restart-rule.ts';
import type { RunRules } from './rules.ts';
import type { Instant, Ladder } from './stop-ladder.ts';

export interface PendingStart {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly dueAtMonotonicMs: number;
}

/** A run of the server, from its launch until nothing of its process group is left. */
export interface Run {
  /** null: not launched yet, or could not be. */
  readonly pid: number | null;
  /** ISO 8601 UTC with milliseconds; null for a group that an earlier sidecar left running. */
  readonly startedAt: string | null;
  readonly beganAtMonotonicMs: number;
  readonly isUp: boolean;
  readonly hungSince: string | null;
  /** Negative infinity if the stop line was not typed. */
  readonly stopLineAtMonotonicMs: number;
  /** An account or the panel wants it to end, even if it ends by itself before. */
  readonly isUnwanted: boolean;
  /** The server starts again once this run has ended. */
  readonly isToStart: boolean;
  /** Part of a restart, from the click until the server is up. */
  readonly isRestarting: boolean;
  /** Set by the exit of the process; members of its group may live longer. */
  readonly exit: (ProcessExit & { readonly isAsked: boolean }) | null;
  /** Nothing of its group is left, so that nothing may be signalled; its output may still be read. */
  readonly isGone: boolean;
}

export type RunState =
  | { readonly phase: 'stopped' }
  | { readonly phase: 'crashed'; readonly start: PendingStart | null; readonly gaveUp: GaveUp | null }
  | (Run & { readonly phase: 'live' })
  | (Run & { readonly phase: 'stopping'; readonly ladder: Ladder });

/** State of the server control for the next sidecar, kept by the owner of the process. */
export interface KeptRun {
  readonly phase: 'stopped' | 'crashed' | 'live' | 'stopping';
  readonly startedAt: string | null;
  readonly isUp: boolean;
  readonly isToStart: boolean;
  /** Settings by which the run was started. */
  readonly backend: SettingValues['backend'];
  readonly serverRoot: string;
}

/** A run that outlived the sidecar before this one. */
export interface HeldRun {
  readonly pid: number;
  readonly kept: KeptRun;
}

export type ActiveRun = Extract<RunState, Run>;

/** Everything that the server control decides by. */
export interface ControlState {
  readonly run: RunState;
  /** Exit of the last run. */
  readonly exit: ServerExit | null;
  /** Why the last start failed. */
  readonly failure: string | null;
  readonly starts: StartHistory;
  /** Nothing starts before the panel has looked for a group that an earlier one left, nor once it closes. */
  readonly panel: 'opening' | 'open' | 'closing';
}

/** @param hasLeftGroup an earlier sidecar may have left a server running */
export function initialState(hasLeftGroup: boolean): ControlState {
  const panel = hasLeftGroup ? 'opening' : 'open';
  return { run: { phase: 'stopped' }, exit: null, failure: null, starts: NO_STARTS, panel };
}

export function isActive(run: RunState): run is ActiveRun {
  return run.phase === 'live' || run.phase === 'stopping';
}

/** Time of the next step by itself, on the monotonic clock, or null. */
export function dueAt({ run }: ControlState): number | null {
  if (run.phase === 'crashed') return run.start?.dueAtMonotonicMs ?? null;
  return run.phase === 'stopping' && !run.isGone ? run.ladder.dueAtMonotonicMs : null;
}

export interface CrashFacts {
  readonly exit: ServerExit;
  readonly failure: string | null;
  readonly startedAt: string | null;
  readonly isUp: boolean;
}

export type Effect =
  | { readonly type: 'say'; readonly text: string }
  /** Answered at once by the event `launched` or `not-launched`. */
  | { readonly type: 'launch'; readonly why: string }
  | { readonly type: 'adopt'; readonly pid: number }
  /** Drives a server that outlived the sidecar before this one. */
  | { readonly type: 'resume'; readonly held: HeldRun }
  | { readonly type: 'type-line'; readonly line: string }
  | { readonly type: 'signal'; readonly signal: 'terminate' | 'kill' }
  | { readonly type: 'record-crash'; readonly crash: CrashFacts }
  /** `forget`: deletes the stored process id. `release`: ends the current run. */
  | { readonly type: 'forget' | 'release' };

export interface Next {
  readonly state: ControlState;
  readonly effects: readonly Effect[];
  /** The event was an action that this state refuses; nothing has changed. */
  readonly refusal?: ErrorKey;
}

/** Settings and time at an event. */
export interface Turn {
  readonly rules: RunRules;
  readonly now: Instant;
}

export function to(state: ControlState, ...effects: readonly Effect[]): Next {
  return { state, effects };
}

/** Effects of both, in their order. */
export function andThen(first: Next, step: (state: ControlState) => Next): Next {
  const second = step(first.state);
  return { ...second, effects: [...first.effects, ...second.effects] };
}

export function say(text: string): Effect {
  return { type: 'say', text };
}
