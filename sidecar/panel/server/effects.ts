import type { ErrorKey } from '../shapes/error-keys.ts';
import type { ServerExit } from '../shapes/server.ts';
import type { RunRules } from './rules.ts';
import type { ControlState, HeldRun } from './state.ts';
import type { Instant } from './stop-ladder.ts';

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
