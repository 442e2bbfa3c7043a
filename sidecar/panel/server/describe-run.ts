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
