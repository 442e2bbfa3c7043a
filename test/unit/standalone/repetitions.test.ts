import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Repetitions } from '#standalone/failures.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('what happens again and again is told once in ten seconds, with how often', () => {
  const told = new Repetitions();
  expect(told.count('a')).toBe(1);
  expect(told.count('b')).toBe(1);
  for (let i = 0; i < 5; i++) expect(told.count('a')).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(told.count('a')).toBe(6);
  expect(told.count('a')).toBe(0);
  vi.advanceTimersByTime(10_000);
  expect(told.count('b')).toBe(1);
});
