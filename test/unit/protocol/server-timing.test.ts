import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseServerTiming, writeServerTiming } from '#protocol/server-timing.ts';

const duration = fc.integer({ min: 0, max: 9_999_999 }).map((tenths) => tenths / 10);

describe('Server-Timing', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(duration, duration, (totalMs, databaseMs) => {
        expect(parseServerTiming(writeServerTiming({ totalMs, databaseMs }))).toEqual({ totalMs, databaseMs });
      }),
    );
  });

  it('is nothing where somebody else has written it', () => {
    for (const text of [
      '',
      'total',
      'total;dur=-1',
      'total;dur=1e9',
      'total;dur=NaN',
      'db;dur=5',
      'x'.repeat(10_000),
    ]) {
      expect(parseServerTiming(text)).toBeNull();
    }
    expect(parseServerTiming('cache;desc="hit", total;dur=3')).toEqual({ totalMs: 3, databaseMs: 0 });
  });
});
