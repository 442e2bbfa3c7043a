import { describe, expect, it } from 'vitest';
import { next, type RunEvent } from '#panel/server/next.ts';
import type { RunRules } from '#panel/server/rules.ts';
import { type ControlState, initialState } from '#panel/server/state.ts';

/** Ways that `run-table.test.ts` does not go, as its processes end at once with all that they have started. */

const RULES: RunRules = {
  stopLine: 'quit',
  stopWaitMs: 20_000,
  killWaitMs: 10_000,
  isImmediate: false,
  isAutoStart: true,
  restartsHung: true,
  isElsewhere: false,
  missing: null,
  events: { backend: 'command', warnEvents: true, locale: 'en' },
};
const EXIT = { code: 1, signal: null, failure: null };
const START: readonly RunEvent[] = [{ type: 'start', actor: 'anna' }, { type: 'launched', pid: 7 }, { type: 'up' }];

/** The state after all events, and the effects of the last one. */
function follow(events: readonly RunEvent[], rules: RunRules = RULES, from: ControlState = initialState(false)) {
  const turn = { rules, now: { epochMs: 0, monotonicMs: 1000 } };
  return events.reduce((way, event) => next(way.state, event, turn), next(from, { type: 'up' }, turn));
}

describe('the group of a server', () => {
  it('ends by a ladder without a stop line once its process has crashed', () => {
    const { state, effects } = follow([...START, { type: 'exited', exit: EXIT, hasMembers: true }]);
    expect(state.run).toMatchObject({ phase: 'stopping', ladder: { next: 1 } });
    expect(effects).toEqual([{ type: 'signal', signal: 'terminate' }]);
    const ended = follow([{ type: 'ended', isLeftOver: true }], RULES, state);
    expect(ended.state).toMatchObject({ run: { phase: 'crashed' }, exit: { code: 1, reason: 'crash' } });
    expect(ended.effects.map(({ type }) => type)).toEqual(['forget', 'say', 'say', 'record-crash', 'release', 'say']);
  });

  it('goes on upon the ladder of a stop', () => {
    const { state, effects } = follow([
      ...START,
      { type: 'stop', actor: 'anna' },
      { type: 'due' },
      { type: 'exited', exit: EXIT, hasMembers: true },
    ]);
    expect(state.run).toMatchObject({ phase: 'stopping', ladder: { next: 2 } });
    expect(effects).toEqual([]);
  });

  it('that has gone gets no signal, and a restart meanwhile starts it again', () => {
    const gone: readonly RunEvent[] = [...START, { type: 'exited', exit: EXIT, hasMembers: false }];
    for (const type of ['stop', 'restart', 'force-stop'] as const) {
      expect(follow([...gone, { type, actor: 'bob' }]).effects.map((effect) => effect.type)).toEqual(['say']);
    }
    const { state, effects } = follow([
      ...gone,
      { type: 'restart', actor: 'bob' },
      { type: 'ended', isLeftOver: false },
    ]);
    expect(state).toMatchObject({ run: { phase: 'live', isRestarting: true }, exit: { reason: 'crash' } });
    expect(effects.at(-1)).toEqual({ type: 'launch', why: 'The server starts again' });
  });

  it('that an earlier sidecar left is ended, and no crash', () => {
    const found = follow([{ type: 'opened', left: 9 }], { ...RULES, stopLine: '' }, initialState(true));
    expect(found.state).toMatchObject({ panel: 'open', run: { phase: 'stopping', pid: 9, startedAt: null } });
    expect(found.effects.slice(1)).toEqual([
      { type: 'adopt', pid: 9 },
      { type: 'signal', signal: 'terminate' },
    ]);
    const exit = { code: null, signal: null, failure: null };
    const ended = follow(
      [
        { type: 'exited', exit, hasMembers: true },
        { type: 'ended', isLeftOver: false },
      ],
      RULES,
      found.state,
    );
    expect(ended.state.exit).toBeNull();
    expect(ended.effects.map(({ type }) => type)).toEqual(['forget', 'release', 'launch']);
  });
});

describe('a hang', () => {
  const HANG: RunEvent = { type: 'hung', silentMs: 60_000 };

  it('counts once towards the starts after which the server is left as it is', () => {
    const { state, effects } = follow([...START, HANG]);
    expect(state.starts.startedAtMonotonicMs).toHaveLength(1);
    expect(state.run).toMatchObject({ phase: 'stopping', isToStart: true, isRestarting: false });
    expect(effects.map(({ type }) => type)).toEqual(['say', 'type-line', 'say']);
  });

  it('after five starts is only told; a start by hand begins to count again', () => {
    const state = follow(START).state;
    const often = { ...state, starts: { startedAtMonotonicMs: [1, 2, 3, 4, 5], crashesInARow: 5 } };
    expect(follow([HANG], RULES, often).state.run.phase).toBe('live');
    expect(follow([{ type: 'restart', actor: 'anna' }], RULES, often).state.starts.startedAtMonotonicMs).toEqual([]);
  });
});

it('refuses actions before the panel has looked for what an earlier one left', () => {
  const opening = initialState(true);
  expect(follow([{ type: 'start', actor: 'anna' }], RULES, opening).refusal).toBe('server.busy');
  expect(follow([{ type: 'restart', actor: 'anna' }], RULES, opening).refusal).toBe('server.busy');
});
