import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { orLate } from '#sidecar/deadline.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('settles as the work does and leaves no timer', async () => {
  expect(await orLate(Promise.resolve('done'), 1000, 'late')).toBe('done');
  await expect(orLate(Promise.reject(new Error('broken')), 1000, 'late')).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

it('resolves with the other value when the time is up, and ignores a later failure', async () => {
  const work = Promise.withResolvers<string>();
  const answer = orLate(work.promise, 1000, 'late');
  await vi.advanceTimersByTimeAsync(999);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await answer).toBe('late');
  work.reject(new Error('after the time'));
  await vi.advanceTimersByTimeAsync(0);
});

it('is late at once if the time was up before', async () => {
  const answer = orLate(new Promise(() => {}), -5, 'late');
  await vi.advanceTimersByTimeAsync(0);
  expect(await answer).toBe('late');
});
