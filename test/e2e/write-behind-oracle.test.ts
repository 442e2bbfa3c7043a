import { beforeEach, describe, expect, it } from 'vitest';
import { type Action, type Call, latestId, Oracle, type StoredState } from '../support/buffered/oracle.ts';

/** The judge of the kills and faults of write-behind finds each thing that may be wrong. */

let oracle: Oracle;
let number: number;
beforeEach(() => {
  number = 0;
  oracle = new Oracle(1);
});

/** Calls in turn: each is sent when the one before has ended. */
function made(action: Action, outcome: Call['outcome'] = 'acknowledged'): Call {
  number += 1;
  const call: Call = {
    writer: 0,
    number,
    action,
    operation: 'insert',
    payload: '{}',
    key: null,
    isImmediate: false,
    sentMs: 10 * number,
    acknowledgedMs: outcome === 'acknowledged' ? 10 * number + 5 : Number.POSITIVE_INFINITY,
    outcome,
    answer: '',
  };
  oracle.settle(call);
  return call;
}

const event = (tag: string, parts = 1): Action => ({ kind: 'event', tag, parts });
const state = (changes: Partial<StoredState>): StoredState => ({
  events: [],
  counters: [0, 0].map((n) => ({ writer: 0, n })),
  latest: [],
  ...changes,
});
const rows = (...tags: string[]) => tags.map((tag) => ({ tag, part: 0 }));

describe('events', () => {
  it('are there once and in order, those without an answer or not', () => {
    made(event('a'));
    made(event('b'), 'unknown');
    made(event('c', 2));
    const c = [0, 1].map((part) => ({ tag: 'c', part }));
    expect(oracle.judge(state({ events: [...rows('a'), ...c] }))).toEqual([]);
    expect(oracle.judge(state({ events: [...rows('a', 'b'), ...c] }))).toEqual([]);
  });

  it('that are lost, doubled, halved, out of order or never accepted are found', () => {
    made(event('a'));
    made(event('b'), 'refused');
    made(event('c', 2));
    const c = [0, 1].map((part) => ({ tag: 'c', part }));
    for (const [events, problem] of [
      [c, /a was acknowledged and is lost/],
      [[...rows('a', 'a'), ...c], /a has the parts 0,0/],
      [[...rows('a'), ...c, ...rows('a')], /a has the parts 0,0/],
      [[...rows('a'), ...c.slice(1)], /c has the parts 1/],
      [[...c, ...rows('a')], /event 0-3 was sent after event 0-1 was acknowledged/],
      [[...rows('a', 'b'), ...c], /b was never accepted/],
      [[...rows('a', 'x'), ...c], /x was never accepted/],
    ] as const) {
      expect(oracle.judge(state({ events })).join()).toMatch(problem);
    }
  });
});

describe('counters', () => {
  it('count what was acknowledged, and may count what got no answer', () => {
    made({ kind: 'increment' });
    made({ kind: 'increment' }, 'unknown');
    const counted = (...values: number[]) => state({ counters: values.map((n) => ({ writer: 0, n })) });
    expect(oracle.judge(counted(1, 1))).toEqual([]);
    expect(oracle.judge(counted(2, 2))).toEqual([]);
    for (const wrong of [counted(0, 0), counted(3, 3), counted(1, 2), counted(1)]) {
      expect(oracle.judge(wrong).join()).toMatch(/counters of writer 0/);
    }
  });
});

describe('the last value', () => {
  const latest = (seq: number | null) => state({ latest: seq === null ? [] : [{ id: latestId(0), seq }] });

  it('wins', () => {
    made({ kind: 'set' });
    made({ kind: 'set' });
    expect(oracle.judge(latest(2))).toEqual([]);
    expect(oracle.judge(latest(1)).join()).toMatch(/latest of writer 0 is 1/);
    expect(oracle.judge(latest(null)).join()).toMatch(/latest of writer 0 is null/);
    made({ kind: 'remove' }, 'unknown');
    expect(oracle.judge(latest(null))).toEqual([]);
    expect(oracle.judge(latest(2))).toEqual([]);
    made({ kind: 'remove' });
    expect(oracle.judge(latest(2)).join()).toMatch(/latest of writer 0 is 2/);
    made({ kind: 'set' }, 'refused');
    expect(oracle.judge(latest(5)).join()).toMatch(/latest of writer 0 is 5/);
  });
});

describe('acknowledgements', () => {
  it('have an id of their own, but for one key, and the shape of the specification', () => {
    const [first, second] = [made({ kind: 'set' }), made({ kind: 'set' })];
    oracle.checkAcknowledgement(first, '{"queued":true,"id":"x","pending":1}');
    oracle.checkAcknowledgement(first, '{"queued":true,"id":"x","pending":1}');
    expect(oracle.problems).toEqual([]);
    oracle.checkAcknowledgement(second, '{"queued":true,"id":"x","pending":1}');
    oracle.checkAcknowledgement(second, '{"affected":1}');
    expect(oracle.problems).toHaveLength(2);
  });
});
