import { isActive, type KeptRun, type RunState } from './state.ts';

/** A run as the keeper stores it for the next sidecar. */
export function keptRunOf(run: RunState, { backend, serverRoot }: Pick<KeptRun, 'backend' | 'serverRoot'>): KeptRun {
  const { startedAt, isUp, isToStart } = isActive(run) ? run : { startedAt: null, isUp: false, isToStart: false };
  return { phase: run.phase, startedAt, isUp, isToStart, backend, serverRoot };
}

/** Null for a note of another version of this program. */
export function readKeptRun(note: string | null): KeptRun | null {
  try {
    const kept = JSON.parse(note ?? 'null') as KeptRun | null;
    return typeof kept?.phase === 'string' && typeof kept.backend === 'string' ? kept : null;
  } catch {
    return null;
  }
}
