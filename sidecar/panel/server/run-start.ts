import { type ControlState, type Next, type Run, say, type Turn, to } from './state.ts';

export function launch(state: ControlState, why: string, { now }: Turn, isRestarting = false): Next {
  const startedAt = new Date(now.epochMs).toISOString();
  const panel = state.panel === 'closing' ? 'closing' : 'open';
  const run = { phase: 'live', ...newRun(now.monotonicMs), startedAt, isRestarting } as const;
  return to({ ...state, run, panel, failure: null }, { type: 'launch', why });
}

/** @param isSetting starting it again would not help */
export function failLaunch(state: ControlState, failure: string, isSetting: boolean): Next {
  const run = { phase: 'crashed', start: null, gaveUp: isSetting ? 'launch' : null } as const;
  const exit = { code: null, signal: null, reason: 'spawn' } as const;
  return to({ ...state, run, exit, failure }, say(`The server could not start: ${failure}`));
}

export function newRun(beganAtMonotonicMs: number): Run {
  return {
    pid: null,
    startedAt: null,
    beganAtMonotonicMs,
    isUp: false,
    hungSince: null,
    stopLineAtMonotonicMs: Number.NEGATIVE_INFINITY,
    isUnwanted: false,
    isToStart: false,
    isRestarting: false,
    exit: null,
    isGone: false,
  };
}
