import type { ProcessExit } from './process/game-process.ts';
import type { Ladder } from './stop-ladder.ts';

/** The panel's console line about the end of a run. */
export function describeExit({ code, signal, failure, isAsked }: ProcessExit & { readonly isAsked: boolean }): string {
  if (failure !== null) return `The server could not start: ${failure}`;
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  return isAsked ? `The server stopped (${how})` : `The server crashed (${how})`;
}

/** Follows "max stops the server": `. If it does not end: terminate in 20 s, kill in 30 s.` */
export function describePlan(steps: Ladder['steps'], nowEpochMs: number): string {
  const waits = steps
    .filter(({ action }) => action !== 'ask')
    .map(({ action, at }) => ({ action, waitMs: Date.parse(at) - nowEpochMs }));
  const later = waits.filter(({ waitMs }) => waitMs > 0);
  const isKilledNow = waits.some(({ action, waitMs }) => action === 'kill' && waitMs <= 0);
  if (isKilledNow || later.length === 0) return isKilledNow ? ': it is killed at once' : '';
  return `. If it does not end: ${later.map(({ action, waitMs }) => `${action} in ${seconds(waitMs)}`).join(', ')}.`;
}

export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
