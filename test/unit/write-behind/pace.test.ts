import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchSize } from '#sidecar/write-behind/batch-applier.ts';
import { backoffMs } from '#sidecar/write-behind/halting.ts';

describe('the rest after failures', () => {
  it('doubles from 100 ms to 30 s, of which half is left to chance', () => {
    const shortest = [1, 2, 3, 9, 10, 1000].map((failures) => backoffMs(failures, () => 0));
    expect(shortest).toEqual([50, 100, 200, 12_800, 15_000, 15_000]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, chance) => {
        const ms = backoffMs(failures, () => chance);
        return ms >= backoffMs(failures, () => 0) && ms <= Math.min(30_000, 100 * 2 ** (failures - 1));
      }),
    );
  });
});

describe('the size of a batch', () => {
  it('grows while whole batches are quick, up to 1000', () => {
    const size = new BatchSize();
    const before = size.entries;
    size.succeeded(before - 1, 1);
    expect(size.entries).toBe(before);
    for (let i = 0; i < 10; i += 1) size.succeeded(size.entries, 1);
    expect(size.entries).toBe(1000);
  });

  it('shrinks where a batch takes long, and to one where it does not end, and grows again', () => {
    const size = new BatchSize();
    for (let i = 0; i < 10; i += 1) size.succeeded(size.entries, 5000);
    expect(size.entries).toBe(16);
    for (let i = 0; i < 10; i += 1) size.timedOut();
    expect(size.entries).toBe(1);
    size.succeeded(1, 5000);
    expect(size.entries).toBe(1);
    size.succeeded(1, 1);
    expect(size.entries).toBe(2);
  });
});
