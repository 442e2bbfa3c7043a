import type { SettingValues } from '../settings/panel-settings.ts';
import type { Plan, ServerExit, ServerStatus } from '../shapes/server.ts';
import type { ActiveRun } from './active-run.ts';
import { missingSetting } from './rules.ts';
import type { SelfStart } from './self-start.ts';

/** Where the cycle of runs is. */
export interface CyclePlace {
  readonly run: ActiveRun | null;
  /** While nothing runs. */
  readonly rest: 'stopped' | 'crashed';
  readonly exit: ServerExit | null;
  readonly failure: string | null;
  /** Once it has stopped. */
  readonly isToStart: boolean;
  readonly selfStart: Pick<SelfStart, 'plan' | 'gaveUp'>;
}

export function serverStatus(place: CyclePlace, settings: SettingValues): ServerStatus {
  const { run, rest, exit, failure, selfStart } = place;
  const { serverRoot, backend } = settings;
  return {
    state: run?.state ?? rest,
    pid: run?.pid ?? null,
    serverRoot,
    startedAt: run?.startedAt ?? null,
    exit,
    plan: planOf(place),
    backend,
    hungSince: run?.condition.hungSince ?? null,
    gaveUp: selfStart.gaveUp,
    failure,
    missing: run === null ? missingSetting(settings) : null,
  };
}

/** What is going to happen by itself. */
function planOf({ run, isToStart, selfStart }: CyclePlace): Plan | null {
  if (run === null) return selfStart.plan;
  const last = run.plan?.steps.at(-1);
  if (run.plan === null || last === undefined || !isToStart) return run.plan;
  return { steps: [...run.plan.steps, { action: 'start', at: last.at }], next: run.plan.next };
}
