import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadlines } from '#engine/model/deadlines.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  // First: restored later, the spy would put the fake back.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

let expired: string[] = [];

function waiting(name: string, ms: number) {
  return { deadline: performance.now() + ms, expire: () => expired.push(name) };
}

beforeEach(() => {
  expired = [];
});

it('expires each item at its deadline, whatever the order in which they came', () => {
  const deadlines = new Deadlines();
  for (const [name, ms] of [['late', 30] as const, ['early', 10] as const, ['middle', 20.5] as const]) {
    deadlines.add(waiting(name, ms));
  }
  vi.advanceTimersByTime(9);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['early']);
  vi.advanceTimersByTime(10);
  expect(expired).toEqual(['early']);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(['early', 'middle']);
  vi.advanceTimersByTime(60_000);
  expect(expired).toEqual(['early', 'middle', 'late']);
});

it('starts no timer for an item that waits no longer than the timer does, or for ever', () => {
  const deadlines = new Deadlines();
  deadlines.add(waiting('ever', Number.POSITIVE_INFINITY));
  expect(vi.getTimerCount()).toBe(0);
  const starts = vi.spyOn(globalThis, 'setTimeout');
  deadlines.add(waiting('first', 10));
  for (let count = 0; count < 100; count += 1) {
    const item = waiting('done before', 20);
    deadlines.add(item);
    deadlines.delete(item);
  }
  expect(starts).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(expired).toEqual(['first']);
  expect(vi.getTimerCount()).toBe(0);
});

it('goes on with the others after an item that was added by the one that expired', () => {
  const deadlines = new Deadlines();
  deadlines.add({ deadline: performance.now() + 5, expire: () => deadlines.add(waiting('added', 5)) });
  deadlines.add(waiting('other', 20));
  vi.advanceTimersByTime(10);
  expect(expired).toEqual(['added']);
  vi.advanceTimersByTime(10);
  expect(expired).toEqual(['added', 'other']);
});

it('has passed the deadline when the item expires', () => {
  const deadlines = new Deadlines();
  const deadline = performance.now() + 1.3;
  let at = 0;
  deadlines.add({
    deadline,
    expire() {
      at = performance.now();
    },
  });
  vi.advanceTimersByTime(5);
  expect(at).toBeGreaterThanOrEqual(deadline);
});
