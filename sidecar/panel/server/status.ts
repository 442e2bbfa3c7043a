import type { SettingValues } from '../settings/panel-settings.ts';
import type { Plan, ServerState, ServerStatus } from '../shapes/server.ts';
import { missingSetting } from './rules.ts';
import { type ControlState, isActive, type RunState } from './state.ts';

export function serverStatus({ run, exit, failure }: ControlState, settings: SettingValues): ServerStatus {
  const active = isActive(run) ? run : null;
  return {
    state: stateOf(run),
    pid: active?.pid ?? null,
    serverRoot: settings.serverRoot,
    startedAt: active?.startedAt ?? null,
    exit,
    plan: planOf(run),
    backend: settings.backend,
    hungSince: active?.hungSince ?? null,
    gaveUp: run.phase === 'crashed' ? run.gaveUp : null,
    failure,
    missing: active === null ? missingSetting(settings) : null,
  };
}

function stateOf(run: RunState): ServerState {
  if (run.phase !== 'live') return run.phase;
  return run.isUp ? 'running' : 'starting';
}

/** Steps that happen by themselves. */
function planOf(run: RunState): Plan | null {
  if (run.phase === 'crashed') {
    return run.start === null ? null : { steps: [{ action: 'start', at: run.start.at }], next: 0 };
  }
  if (run.phase !== 'stopping') return null;
  const steps: Plan['steps'][number][] = run.ladder.steps.map(({ action, at }) => ({ action, at }));
  const last = steps.at(-1);
  if (run.isToStart && last !== undefined) steps.push({ action: 'start', at: last.at });
  return { steps, next: run.ladder.next };
}
