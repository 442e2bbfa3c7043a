import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LockOut } from '#sidecar/security/lock-out.ts';
import { NonceTable } from '#sidecar/security/nonce-table.ts';
import { RateLimit } from '#sidecar/security/rate-limit.ts';

describe('NonceTable', () => {
  it('holds exactly what was added, as a Set does', () => {
    const word = fc.integer({ min: 0, max: 40 }).map((value) => (value > 20 ? 0xffff_ffff - value : value));
    const fingerprint = fc.tuple(
      word,
      word.map((value) => value + 1),
    );
    fc.assert(
      fc.property(fc.array(fingerprint, { maxLength: 3000 }), fc.array(fingerprint), (added, asked) => {
        const table = new NonceTable();
        const model = new Set<string>();
        for (const [high, low] of added) {
          table.add(high, low);
          model.add(`${high} ${low}`);
        }
        for (const [high, low] of [...added, ...asked]) expect(table.has(high, low)).toBe(model.has(`${high} ${low}`));
        expect(table.size).toBe(model.size);
      }),
      { numRuns: 30 },
    );
  });

  it('grows through many doublings', () => {
    const table = new NonceTable();
    const spread = (index: number) => Math.imul(index, 2654435761) >>> 0;
    for (let index = 1; index <= 50_000; index += 1) table.add(index, spread(index));
    expect(table.size).toBe(50_000);
    for (let index = 1; index <= 50_000; index += 1) expect(table.has(index, spread(index))).toBe(true);
    expect(table.has(50_001, spread(1))).toBe(false);
  });
});

describe('RateLimit', () => {
  it('forgets the oldest source rather than growing', () => {
    const limit = new RateLimit(1, 3);
    for (const source of ['a', 'b', 'c']) expect(limit.take(source, 0)).toBe(true);
    expect(limit.take('a', 0)).toBe(false);
    expect(limit.take('d', 0)).toBe(true);
    expect(limit.take('c', 0)).toBe(false);
    expect(limit.take('a', 0)).toBe(true);
  });

  it('lets through what fits, and never more within any second', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 6 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), steps, (perSecond, moves) => {
        const limit = new RateLimit(perSecond);
        const taken: number[] = [];
        let nowMs = 5_000;
        for (const [pause, requests] of moves) {
          nowMs += pause;
          for (let request = 0; request < requests; request += 1) {
            // A second and a slot: nothing within it means that there is room.
            const hasRoom = taken.filter((time) => time > nowMs - 1040).length < perSecond;
            const isTaken = limit.take('one', nowMs);
            if (hasRoom) expect(isTaken).toBe(true);
            if (isTaken) taken.push(nowMs);
          }
        }
        for (const start of taken) {
          expect(taken.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(perSecond);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('LockOut', () => {
  it('forgets sources that are not locked before those that are', () => {
    // 2,000,000 stamps at most, so 100 sources with 20,000 each.
    const lockOut = new LockOut(20_000, 60);
    for (let failure = 0; failure < 20_000; failure += 1) lockOut.fail('locked', 0);
    for (let source = 0; source < 500; source += 1) lockOut.fail(`other-${source}`, 0);
    expect(lockOut.remainingMs('locked', 1000)).toBe(59_000);
    expect(lockOut.remainingMs('other-499', 1000)).toBe(0);
  });
});
