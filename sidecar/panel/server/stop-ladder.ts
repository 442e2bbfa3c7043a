import type { PlanStep } from '../shapes/server.ts';

export interface Instant {
  /** Shown to accounts; the owner of the machine may change it. */
  readonly epochMs: number;
  /** Measures waits; only grows. */
  readonly monotonicMs: number;
}

export type LadderAction = 'ask' | 'terminate' | 'kill';

export interface LadderStep extends PlanStep {
  readonly action: LadderAction;
  /** Wait after the step before it. */
  readonly afterMs: number;
}

/** Steps that end a server: ask, wait, terminate, wait, kill. Accounts see each step before it is taken. */
export interface Ladder {
  readonly steps: readonly LadderStep[];
  /** Index of the next step; `steps.length` if all are taken. */
  readonly next: number;
  readonly dueAtMonotonicMs: number | null;
}

export interface StopRules {
  /** Empty: no line is typed. */
  readonly stopLine: string;
  readonly isImmediate: boolean;
  readonly stopWaitMs: number;
  readonly killWaitMs: number;
}

/** Steps of a ladder that begins now; no line is typed to leftovers of a server that has exited. */
export function stopActions({ isImmediate, stopLine }: StopRules, hasExited: boolean): LadderAction[] {
  if (isImmediate) return ['kill'];
  return hasExited || stopLine === '' ? ['terminate', 'kill'] : ['ask', 'terminate', 'kill'];
}

/** A ladder whose first step is taken now. */
export function newLadder(actions: readonly LadderAction[], rules: StopRules, now: Instant): Ladder {
  let at = now.epochMs;
  const steps = actions.map((action, index) => {
    const afterMs = action === 'terminate' ? rules.stopWaitMs : rules.killWaitMs;
    at += index === 0 ? 0 : afterMs;
    return { action, at: new Date(at).toISOString(), afterMs };
  });
  return climb({ steps, next: 0, dueAtMonotonicMs: null }, now);
}

export function climb(ladder: Ladder, now: Instant): Ladder {
  const following = ladder.steps[ladder.next + 1];
  const dueAtMonotonicMs = following === undefined ? null : now.monotonicMs + following.afterMs;
  return { ...ladder, next: ladder.next + 1, dueAtMonotonicMs };
}

/** The first step is taken when a ladder is made, so that there is one. */
export function lastAction({ steps, next }: Ladder): LadderAction {
  return steps[next - 1]?.action ?? 'kill';
}

/** Follows "max stops the server": `. If it does not end: terminate in 20 s, kill in 30 s.` */
export function describePlan(steps: Ladder['steps'], nowEpochMs: number): string {
  const later: string[] = [];
  for (const { action, at } of steps) {
    const waitMs = Date.parse(at) - nowEpochMs;
    if (action === 'kill' && waitMs <= 0) return ': it is killed at once';
    if (action !== 'ask' && waitMs > 0) later.push(`${action} in ${seconds(waitMs)}`);
  }
  return later.length === 0 ? '' : `. If it does not end: ${later.join(', ')}.`;
}

export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
