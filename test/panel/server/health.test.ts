import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HealthWatch } from '#panel/server/health.ts';
import type { GameProcess } from '#panel/server/process/game-process.ts';

const HANG_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Watches a server that answers as long as `world.answers`. */
function watch() {
  const world = { answers: false, isUp: false, told: [] as string[] };
  const health = new HealthWatch({
    process: {} as GameProcess,
    ask: () => (world.answers ? Promise.resolve({ players: 3, resources: null }) : Promise.reject(new Error('no'))),
    hangMs: () => HANG_MS,
    isStarting: () => !world.isUp,
    longestStartMs: 60_000,
    onUp: () => {
      world.isUp = true;
      world.told.push('up');
    },
    onHealth: () => {},
    onHung: (silentMs) => world.told.push(silentMs === null ? 'well' : 'hung'),
  });
  return { world, health };
}

describe('a server that starts', () => {
  it('is up at its first answer', async () => {
    const { world } = watch();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(world.told).toEqual([]);
    world.answers = true;
    await vi.advanceTimersByTimeAsync(1000);
    expect(world.told).toEqual(['up']);
  });

  it('counts as up after a minute, whatever it answers', async () => {
    const { world } = watch();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(world.told).toEqual([]);
    await vi.advanceTimersByTimeAsync(2000);
    expect(world.told).toEqual(['up']);
  });
});

describe('a server that runs', () => {
  it('hangs when neither a line nor an answer comes for the set time, and is well at the next one', async () => {
    const { world, health } = watch();
    world.isUp = true;
    await vi.advanceTimersByTimeAsync(50_000);
    health.noteOutput();
    await vi.advanceTimersByTimeAsync(58_000);
    expect(world.told).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(world.told).toEqual(['hung']);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(world.told).toEqual(['hung']);
    world.answers = true;
    await vi.advanceTimersByTimeAsync(6000);
    expect(world.told).toEqual(['hung', 'well']);
  });

  it('does not hang because the machine has slept', async () => {
    const { world } = watch();
    world.isUp = true;
    await vi.advanceTimersByTimeAsync(1000);
    const slept = performance.now() + 3_600_000;
    vi.spyOn(performance, 'now').mockImplementation(() => slept);
    await vi.advanceTimersByTimeAsync(5000);
    expect(world.told).toEqual([]);
  });
});
