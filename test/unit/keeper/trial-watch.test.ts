import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { KEEPER_TIMES } from '#sidecar/keeper/keeper-times.ts';
import { TrialWatch } from '#sidecar/keeper/trial-watch.ts';

const { readyMs, provenMs, askEveryMs, answerMs } = KEEPER_TIMES;

let watch: TrialWatch;
let asked: number[];
let end: string | null;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  asked = [];
  end = null;
  watch = new TrialWatch(KEEPER_TIMES, {
    ask: (id) => void asked.push(id),
    onProven: () => (end = `${end ?? ''}proven`),
    onFailed: (reason) => (end = `${end ?? ''}${reason}`),
  });
});
afterEach(() => void vi.useRealTimers());

/** It answers each question at once, for so long. */
function answerFor(ms: number): void {
  for (let passed = 0; passed < ms && end === null; passed += askEveryMs) {
    watch.noteAnswer(asked.at(-1) ?? 0, true);
    vi.advanceTimersByTime(askEveryMs);
  }
}

it('a release that hangs before it serves has failed after its time', () => {
  vi.advanceTimersByTime(readyMs - 1);
  expect(end).toBeNull();
  vi.advanceTimersByTime(1);
  expect(end).toBe('it did not serve within 60 s');
});

it('one that serves is proven once it has answered for its time', () => {
  vi.advanceTimersByTime(readyMs - 1);
  watch.noteReady();
  answerFor(provenMs - askEveryMs);
  expect([end, asked.length]).toEqual([null, provenMs / askEveryMs]);
  answerFor(2 * askEveryMs);
  expect(end).toBe('proven');
});

it('one that hangs after that has failed with its first question that it leaves open', () => {
  watch.noteReady();
  answerFor(provenMs / 2);
  vi.advanceTimersByTime(answerMs - askEveryMs);
  expect(end).toBeNull();
  vi.advanceTimersByTime(askEveryMs);
  expect(end).toBe('it gave no answer within 5 s');
});

it('one whose panel or API does not answer has failed at once', () => {
  watch.noteReady();
  watch.noteAnswer(asked.at(-1) ?? 0, false);
  expect(end).toBe('its panel or its API did not answer');
});

it('an answer to an older question, and being ready twice, prove nothing', () => {
  watch.noteReady();
  answerFor(2 * askEveryMs);
  const questions = asked.length;
  watch.noteReady();
  watch.noteAnswer(1, true);
  watch.noteAnswer(1, false);
  expect([end, asked.length]).toEqual([null, questions]);
  vi.advanceTimersByTime(answerMs);
  expect(end).toBe('it gave no answer within 5 s');
});

it('a watch that was stopped says nothing more', () => {
  watch.noteReady();
  watch.stop();
  vi.advanceTimersByTime(readyMs + answerMs);
  expect(end).toBeNull();
});
