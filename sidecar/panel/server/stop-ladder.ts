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

export interface StopWaits {
  readonly stopWaitMs: number;
  readonly killWaitMs: number;
}

/** A ladder whose first step is taken now. */
export function newLadder(actions: readonly LadderAction[], waits: StopWaits, now: Instant): Ladder {
  let at = now.epochMs;
  const steps = actions.map((action, index) => {
    const afterMs = action === 'terminate' ? waits.stopWaitMs : waits.killWaitMs;
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
