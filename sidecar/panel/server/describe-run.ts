import type { PlanStep } from '../shapes/server.ts';
import type { RunEnd } from './server-run.ts';

/** What the console says of the server's comings and goings. */
export function describeExit({ code, signal, failure, isAsked }: Omit<RunEnd, 'isLeftOver'>): string {
  if (failure !== null) return `The server could not be started: ${failure}`;
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  return isAsked ? `The server has stopped (${how})` : `The server has CRASHED (${how})`;
}

const WORDS: Readonly<Record<PlanStep['action'], string>> = {
  ask: 'asked',
  terminate: 'terminating',
  kill: 'killing',
  start: 'starting',
};

/** `asked; terminating in 20 s; killing in 30 s` */
export function describePlan(steps: readonly PlanStep[], now: number): string {
  return steps
    .map(({ action, at }) => {
      const waitMs = Date.parse(at) - now;
      return waitMs <= 0 ? WORDS[action] : `${WORDS[action]} in ${seconds(waitMs)}`;
    })
    .join('; ');
}

export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
