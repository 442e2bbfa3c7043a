import type { KeptRun } from './kept-run.ts';
import { isActive, type RunState } from './state.ts';

/** A run as the keeper stores it for the next sidecar. */
export function keptRunOf(run: RunState, { backend, serverRoot }: Pick<KeptRun, 'backend' | 'serverRoot'>): KeptRun {
  const { startedAt, isUp, isToStart } = isActive(run) ? run : { startedAt: null, isUp: false, isToStart: false };
  return { phase: run.phase, startedAt, isUp, isToStart, backend, serverRoot };
}
