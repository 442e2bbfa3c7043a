import { describe, expect, it } from 'vitest';
import { decideRestart, NO_STARTS, withStart } from '#panel/server/restart-rule.ts';

const MINUTE = 60_000;

/** Waits before each start of a server that crashes `times` times, each so long after the start before it. */
function crash(times: number, ranMs: number): (number | null)[] {
  let now = 0;
  let starts = NO_STARTS;
  return Array.from({ length: times }, () => {
    now += ranMs;
    const decision = decideRestart(starts, ranMs, now);
    starts = decision.starts;
    if (decision.waitMs === null) return null;
    now += decision.waitMs;
    starts = withStart(starts, now);
    return decision.waitMs;
  });
}

describe('a server that crashes', () => {
  it('at once is started five times, each time after twice as long, and then not again', () => {
    expect(crash(7, 0)).toEqual([1000, 2000, 4000, 8000, 16_000, null, null]);
  });

  it('every three minutes is started on and on, after at most a minute', () => {
    const waits = crash(12, 3 * MINUTE);
    expect(waits.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, MINUTE, MINUTE]);
    expect(waits).not.toContain(null);
  });

  it('once a day is started after a second each time', () => {
    expect(crash(4, 1440 * MINUTE)).toEqual([1000, 1000, 1000, 1000]);
  });
});
