import type { ErrorKey } from '../shapes/error-keys.ts';
import type { ServerAction } from '../shapes/server.ts';
import type { ProcessExit } from './process/game-process.ts';
import { NO_STARTS, withStart } from './restart-rule.ts';
import type { RunRules } from './rules.ts';
import { beginLadder, climbLadder, forceStop, restartHung, sayNotAgain, stop, takeEnd, takeExit } from './run-end.ts';
import { failLaunch, launch, newRun } from './run-start.ts';
import {
  type ActiveRun,
  andThen,
  type ControlState,
  type HeldRun,
  isActive,
  type Next,
  type Run,
  say,
  type Turn,
  to,
} from './state.ts';
import { stopActions } from './stop-ladder.ts';

/** News of a process that runs, or whose group is being ended. */
export type ProcessEvent =
  | { readonly type: 'launched'; readonly pid: number | null }
  | { readonly type: 'up' | 'well' | 'stop-line' }
  | { readonly type: 'hung'; readonly silentMs: number }
  | { readonly type: 'exited'; readonly exit: ProcessExit; readonly hasMembers: boolean }
  | { readonly type: 'ended'; readonly isLeftOver: boolean };

type Opened = Extract<RunEvent, { type: 'opened' }>;

export type RunEvent =
  | ProcessEvent
  | { readonly type: ServerAction; readonly actor: string }
  /** `left`: process id of a group that an earlier sidecar left running. `wasStopped`: it stays stopped with this start. */
  | {
      readonly type: 'opened';
      readonly left: number | null;
      readonly held?: HeldRun | null;
      readonly wasStopped?: boolean;
    }
  /** `given-up`: the run did not end in time, and the panel goes. */
  | { readonly type: 'closing' | 'given-up' }
  /** `turnsOnHung`: the owner has just turned the restart of a frozen server on. */
  | { readonly type: 'settings'; readonly turnsOnHung: boolean }
  | { readonly type: 'not-launched'; readonly failure: string; readonly isSetting: boolean }
  /** The time of `dueAt` has come. */
  | { readonly type: 'due' };

/** Server control: the state after an event, and the effects to run. Pure: the table of its test holds it. */
export function next(state: ControlState, event: RunEvent, turn: Turn): Next {
  switch (event.type) {
    case 'start':
    case 'stop':
    case 'restart':
    case 'force-stop': {
      const refusal = refusalOf(event.type, state, turn.rules);
      return refusal === null ? act(state, event.type, event.actor, turn) : { ...to(state), refusal };
    }
    case 'opened':
      // The panel closed while it looked for a server that was left: the next start looks again.
      if (state.panel === 'closing') return to(state);
      return open({ ...state, panel: 'open' }, event, turn);
    case 'closing':
      return close({ ...state, panel: 'closing' }, turn);
    case 'given-up':
      return to({ ...state, run: { phase: 'stopped' } });
    case 'settings':
      return applySettings(state, event.turnsOnHung, turn);
    case 'not-launched':
      return failLaunch(state, event.failure, event.isSetting);
    case 'due':
      return takeDueStep(state, turn);
    default:
      return isActive(state.run) ? observe(state, state.run, event, turn) : to(state);
  }
}

/** Why an action is refused in this state, or null. */
function refusalOf(action: ServerAction, { run, panel }: ControlState, rules: RunRules): ErrorKey | null {
  if (rules.isElsewhere) return 'server.elsewhere';
  if (action === 'force-stop') return null;
  if (action === 'stop') return run.phase === 'stopped' ? 'server.stopped' : null;
  if (isActive(run)) {
    if (action === 'start') return 'server.running';
    if (run.phase === 'stopping' || run.isRestarting) return 'server.busy';
  } else if (rules.missing !== null) return 'server.unconfigured';
  return panel === 'open' ? null : 'server.busy';
}

function act(state: ControlState, action: ServerAction, actor: string, turn: Turn): Next {
  const { run } = state;
  const cleared = { ...state, starts: NO_STARTS };
  switch (action) {
    case 'start':
      return launch(cleared, `${actor} starts the server`, turn);
    case 'restart':
      if (!isActive(run)) return launch(cleared, `${actor} restarts the server`, turn, true);
      return stop(cleared, { ...run, isRestarting: true }, { actor, isToStart: true }, turn);
    case 'stop':
      return isActive(run) ? stop(state, run, { actor, isToStart: false }, turn) : settle(state, actor);
    case 'force-stop':
      return isActive(run) ? forceStop(state, run, actor, turn) : settle(state, actor);
    default:
      return action satisfies never;
  }
}

/** After a crash: cancels the pending start, if any. */
function settle(state: ControlState, actor: string): Next {
  if (state.run.phase !== 'crashed') return to(state);
  const effects = state.run.start === null ? [] : [sayNotAgain(actor)];
  return to({ ...state, run: { phase: 'stopped' } }, ...effects);
}

function observe(state: ControlState, run: ActiveRun, event: ProcessEvent, turn: Turn): Next {
  switch (event.type) {
    case 'launched': {
      const effects = event.pid === null ? [] : [say(`The server runs as process ${event.pid}`)];
      return to(withRun(state, run, { pid: event.pid }), ...effects);
    }
    case 'up': {
      if (run.isUp || run.exit !== null) return to(state);
      const isRestarting = run.phase === 'stopping' && run.isRestarting;
      return to(withRun(state, run, { isUp: true, isRestarting }));
    }
    case 'stop-line':
      return to(withRun(state, run, { stopLineAtMonotonicMs: turn.now.monotonicMs }));
    case 'well':
      return to(withRun(state, run, { hungSince: null }), say('The server answers again'));
    case 'hung':
      return takeHang(state, run, event.silentMs, turn);
    case 'exited':
      return takeExit(state, run, event.exit, event.hasMembers, turn);
    case 'ended':
      return takeEnd(state, run, event.isLeftOver, turn);
    default:
      return event satisfies never;
  }
}

function takeHang(state: ControlState, run: ActiveRun, silentMs: number, turn: Turn): Next {
  // A server that is being ended need not answer.
  if (run.phase === 'stopping') return to(state);
  const hungSince = new Date(turn.now.epochMs - silentMs).toISOString();
  const text = `The server is frozen: no output and no answer for ${Math.round(silentMs / 1000)} s`;
  const hung = to(withRun(state, run, { hungSince }), say(text));
  return turn.rules.restartsHung ? andThen(hung, (frozen) => restartHung(frozen, turn)) : hung;
}

function takeDueStep(state: ControlState, turn: Turn): Next {
  const { run } = state;
  if (run.phase === 'stopping') return climbLadder(state, run, turn);
  if (run.phase !== 'crashed' || run.start === null) return to(state);
  const starts = withStart(state.starts, turn.now.monotonicMs);
  return launch({ ...state, starts }, 'The server starts again after a crash', turn);
}

function open(state: ControlState, { left, held, wasStopped }: Opened, turn: Turn): Next {
  if (isActive(state.run)) return to(state);
  if (held) return resume(state, held, turn);
  const { isAutoStart, isElsewhere, missing } = turn.rules;
  const isToStart = isAutoStart && !isElsewhere && missing === null && wasStopped !== true;
  if (left === null) {
    const forgotten = to(state, { type: 'forget' });
    return isToStart ? andThen(forgotten, () => launch(state, 'The server starts with the panel', turn)) : forgotten;
  }
  const run = { phase: 'live', ...newRun(turn.now.monotonicMs), pid: left, isUnwanted: true, isToStart } as const;
  const text = `Ending a server that an earlier run of the panel left running (process ${left})`;
  const adopted = to({ ...state, run }, say(text), { type: 'adopt', pid: left });
  return andThen(adopted, (known) => beginLadder(known, run, stopActions(turn.rules, true), turn));
}

/** The server ran on without a sidecar. A stop that was under way begins again. */
function resume(state: ControlState, held: HeldRun, turn: Turn): Next {
  const { startedAt, isUp, phase, isToStart } = held.kept;
  const run = { phase: 'live', ...newRun(turn.now.monotonicMs), pid: held.pid, startedAt, isUp } as const;
  const text = `The panel is back; the server ran on (process ${held.pid})`;
  const resumed = to({ ...state, run }, say(text), { type: 'resume', held });
  if (phase !== 'stopping') return resumed;
  return andThen(resumed, (running) => stop(running, run, { actor: 'The panel', isToStart }, turn));
}

function close(state: ControlState, turn: Turn): Next {
  const { run } = state;
  if (run.phase === 'live') return stop(state, run, { actor: 'The panel', isToStart: false }, turn);
  if (run.phase === 'stopping') return to(withRun(state, run, { isToStart: false }));
  return to(cancelStart(state));
}

function applySettings(state: ControlState, turnsOnHung: boolean, turn: Turn): Next {
  const { run } = state;
  // Owners turn it on while the server hangs.
  if (turnsOnHung && run.phase === 'live' && run.hungSince !== null) return restartHung(state, turn);
  // An owner who turns autostart off while the server crashes again and again means this start.
  const isUnwanted = !turn.rules.isAutoStart && run.phase === 'crashed' && run.start !== null;
  return to(isUnwanted ? cancelStart(state) : state);
}

function cancelStart(state: ControlState): ControlState {
  return state.run.phase === 'crashed' ? { ...state, run: { ...state.run, start: null, gaveUp: null } } : state;
}

function withRun(state: ControlState, run: ActiveRun, changes: Partial<Run>): ControlState {
  return { ...state, run: { ...run, ...changes } };
}
