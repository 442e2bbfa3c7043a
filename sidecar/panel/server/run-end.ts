import type { ServerExit } from '../shapes/server.ts';
import type { ProcessExit } from './process/game-process.ts';
import { decideRestart, withStart } from './restart-rule.ts';
import type { RunRules } from './rules.ts';
import { launch } from './run-start.ts';
import { shutdownEventLine } from './shutdown-event.ts';
import {
  type ActiveRun,
  andThen,
  type ControlState,
  type Effect,
  type Next,
  type Run,
  say,
  type Turn,
  to,
} from './state.ts';
import { climb, describePlan, type LadderAction, lastAction, newLadder, seconds, stopActions } from './stop-ladder.ts';

/** A typed stop line counts for at least so long; a crash days after a stop line that did nothing is a crash. */
const ASKED_MS = 120_000;

export interface Wish {
  readonly actor: string;
  readonly isToStart: boolean;
}

/** Begins to end the run; a run that is stopping already goes on as it does, and a later stop wins over a restart. */
export function stop(state: ControlState, run: ActiveRun, { actor, isToStart }: Wish, turn: Turn): Next {
  const unwanted = { ...run, isUnwanted: true, isToStart, isRestarting: isToStart && run.isRestarting };
  if (run.phase === 'stopping') {
    return to({ ...state, run: unwanted }, ...(run.isToStart && !isToStart ? [sayNotAgain(actor)] : []));
  }
  const { events, stopWaitMs, killWaitMs } = turn.rules;
  const actions = stopActions(turn.rules, false);
  const asked = { actor, isToStart, delayMs: stopWaitMs + killWaitMs };
  const line = actions[0] === 'ask' ? shutdownEventLine(events, asked) : null;
  const begun = beginLadder(state, unwanted, actions, turn);
  const steps = begun.state.run.phase === 'stopping' ? begun.state.run.ladder.steps : [];
  const plan = describePlan(steps, turn.now.epochMs);
  // Resources hear of the stop before it is asked for.
  const announcement: Effect[] = line === null ? [] : [{ type: 'type-line', line }];
  const told = say(`${actor} ${isToStart ? 'restarts' : 'stops'} the server${plan}`);
  return to(begun.state, ...announcement, ...begun.effects, told);
}

/** Overtakes every wait. */
export function forceStop(state: ControlState, run: ActiveRun, actor: string, turn: Turn): Next {
  const unwanted = { ...run, isUnwanted: true, isToStart: false, isRestarting: false };
  const told = to({ ...state, run: unwanted }, say(`${actor} stops the server by force`));
  const isKilling = run.phase === 'stopping' && lastAction(run.ladder) === 'kill';
  return isKilling ? told : andThen(told, (ending) => beginLadder(ending, unwanted, ['kill'], turn));
}

/** A restart that no account asked for: it counts as a start after a crash. */
export function restartHung(state: ControlState, turn: Turn): Next {
  if (state.run.phase !== 'live') return to(state);
  const { monotonicMs } = turn.now;
  const { starts, waitMs } = decideRestart(state.starts, 0, monotonicMs);
  if (waitMs === null) {
    return to({ ...state, starts }, say('The server was started too often in 10 minutes, so it is not restarted'));
  }
  const counted = { ...state, starts: withStart(starts, monotonicMs) };
  return stop(counted, state.run, { actor: 'The panel', isToStart: true }, turn);
}

/** Takes the first step of a new ladder, in place of the ladder before it. */
export function beginLadder(
  state: ControlState,
  run: ActiveRun,
  actions: readonly LadderAction[],
  { rules, now }: Turn,
): Next {
  if (run.isGone) return to({ ...state, run });
  const ladder = newLadder(actions, rules, now);
  return to({ ...state, run: { ...run, phase: 'stopping', ladder } }, effectOf(lastAction(ladder), rules));
}

export function climbLadder(
  state: ControlState,
  run: Extract<ActiveRun, { phase: 'stopping' }>,
  { rules, now }: Turn,
): Next {
  const ladder = climb(run.ladder, now);
  return to({ ...state, run: { ...run, ladder } }, effectOf(lastAction(ladder), rules));
}

function effectOf(action: LadderAction, { stopLine }: RunRules): Effect {
  return action === 'ask' ? { type: 'type-line', line: stopLine } : { type: 'signal', signal: action };
}

/** The process has exited. Members of its group that it left behind end by the same ladder. */
export function takeExit(state: ControlState, run: ActiveRun, exit: ProcessExit, hasMembers: boolean, turn: Turn) {
  const askedMs = turn.now.monotonicMs - run.stopLineAtMonotonicMs;
  const isAsked = run.isUnwanted || askedMs < Math.max(ASKED_MS, turn.rules.stopWaitMs);
  const exited = { ...run, exit: { ...exit, isAsked }, isGone: !hasMembers };
  const isOnLadder = run.phase === 'stopping' && lastAction(run.ladder) !== 'ask';
  return isOnLadder ? to({ ...state, run: exited }) : beginLadder(state, exited, stopActions(turn.rules, true), turn);
}

/** Nothing of the run is left, or nothing that could be ended. */
export function takeEnd(state: ControlState, run: ActiveRun, isLeftOver: boolean, turn: Turn): Next {
  if (run.exit === null) return to(state);
  const { code, signal, failure, isAsked } = run.exit;
  const isLeft = run.startedAt === null;
  const exit: ServerExit = { code, signal, reason: isAsked ? 'asked' : failure === null ? 'crash' : 'spawn' };
  const crash = { exit, failure, startedAt: run.startedAt, isUp: run.isUp };
  const ended = to(
    { ...state, exit: isLeft ? state.exit : exit, failure },
    { type: 'forget' },
    ...(isLeft ? [] : [say(describeExit(run.exit))]),
    ...(isLeftOver ? [say(LEFT_OVER)] : []),
    ...(isLeft || isAsked ? [] : [{ type: 'record-crash', crash } as const]),
    { type: 'release' },
  );
  return andThen(ended, (over) => comeToRest(over, run, isAsked, turn));
}

const LEFT_OVER =
  'Some processes of the server did not end, even after a kill; look at them with the tools of the system';

/** The panel's console line about the end of a run. */
export function describeExit({ code, signal, failure, isAsked }: ProcessExit & { readonly isAsked: boolean }): string {
  if (failure !== null) return `The server could not start: ${failure}`;
  const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
  return isAsked ? `The server stopped (${how})` : `The server crashed (${how})`;
}

/** Starts again, stays stopped, or has crashed. */
function comeToRest(state: ControlState, run: Run, isAsked: boolean, turn: Turn): Next {
  const isClosing = state.panel === 'closing';
  if (run.isToStart && !isClosing) return launch(state, 'The server starts again', turn, run.isRestarting);
  if (run.isUnwanted || isAsked) return to({ ...state, run: { phase: 'stopped' } });
  if (isClosing || !turn.rules.isAutoStart) {
    return to({ ...state, run: { phase: 'crashed', start: null, gaveUp: null } });
  }
  return planStart(state, turn.now.monotonicMs - run.beganAtMonotonicMs, turn);
}

function planStart(state: ControlState, ranMs: number, { now }: Turn): Next {
  const { starts, waitMs } = decideRestart(state.starts, ranMs, now.monotonicMs);
  if (waitMs === null) {
    const text = 'The server crashed too often: 5 starts in 10 minutes. It stays down until you start it';
    return to({ ...state, starts, run: { phase: 'crashed', start: null, gaveUp: 'crashes' } }, say(text));
  }
  const start = { at: new Date(now.epochMs + waitMs).toISOString(), dueAtMonotonicMs: now.monotonicMs + waitMs };
  const text = `The server starts again in ${seconds(waitMs)}`;
  return to({ ...state, starts, run: { phase: 'crashed', start, gaveUp: null } }, say(text));
}

export function sayNotAgain(actor: string): Effect {
  return say(`${actor} stops the server; it does not start again`);
}
