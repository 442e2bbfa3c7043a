import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { OutputBrake } from '#panel/server/process/output-brake.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function newBrake() {
  const stream = new PassThrough().resume();
  return { stream, brake: new OutputBrake([stream]) };
}

it('lets a server print a hundred thousand lines at once', () => {
  const { stream, brake } = newBrake();
  brake.note(100_000, 1000);
  expect(stream.isPaused()).toBe(false);
});

it('lets it print ten thousand lines a second for ever', () => {
  const { stream, brake } = newBrake();
  for (let second = 0; second < 1000; second++) {
    brake.note(10_000, 1000);
    vi.advanceTimersByTime(1000);
    expect(stream.isPaused()).toBe(false);
  }
});

it('makes one that prints more wait, and reads on then', () => {
  const { stream, brake } = newBrake();
  brake.note(120_000, 1000);
  expect(stream.isPaused()).toBe(true);
  vi.advanceTimersByTime(1900);
  expect(stream.isPaused()).toBe(true);
  vi.advanceTimersByTime(200);
  expect(stream.isPaused()).toBe(false);
});

it('counts bytes as well: a line may be long', () => {
  const { stream, brake } = newBrake();
  brake.note(1, 80_000_000);
  expect(stream.isPaused()).toBe(true);
  brake.release();
  expect(stream.isPaused()).toBe(false);
});
