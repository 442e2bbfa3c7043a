import { describe, expect, it } from 'vitest';
import { CrashGuard } from '#panel/server/restart-rule.ts';

const MINUTE = 60_000;

/** Crashes `times` times, each so long after the start before it; what is waited before each start. */
function crash(guard: CrashGuard, times: number, ranMs: number): (number | null)[] {
  let now = 0;
  return Array.from({ length: times }, () => {
    now += ranMs;
    const waitMs = guard.afterCrash(now, ranMs);
    if (waitMs === null) return null;
    now += waitMs;
    guard.noteStart(now);
    return waitMs;
  });
}

describe('a server that crashes', () => {
  it('at once is started five times, each time after twice as long, and then not again', () => {
    const guard = new CrashGuard();
    expect(crash(guard, 7, 0)).toEqual([1000, 2000, 4000, 8000, 16_000, null, null]);
  });

  it('every three minutes is started on and on, after at most a minute', () => {
    const waits = crash(new CrashGuard(), 12, 3 * MINUTE);
    expect(waits.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, MINUTE, MINUTE]);
    expect(waits).not.toContain(null);
  });

  it('once a day is started after a second each time', () => {
    expect(crash(new CrashGuard(), 4, 1440 * MINUTE)).toEqual([1000, 1000, 1000, 1000]);
  });

  it('is started as if for the first time where somebody has started it by hand', () => {
    const guard = new CrashGuard();
    crash(guard, 6, 0);
    guard.clear();
    expect(crash(guard, 6, 0)).toEqual([1000, 2000, 4000, 8000, 16_000, null]);
  });
});
