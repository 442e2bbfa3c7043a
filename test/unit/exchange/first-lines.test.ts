import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FirstLines } from '#sidecar/exchange/first-lines.ts';

const digests = fc.array(
  fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    // Close to each other, at both ends, and alike in the bits that choose a place.
    fc.bigInt({ min: 0n, max: 20n }),
    fc.bigInt({ min: 2n ** 64n - 20n, max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 0n, max: 50n }).map((high) => (high << 32n) | 1023n),
  ),
  { maxLength: 3000, size: 'max' },
);

it('knows the first line of each key, as a map does', () => {
  fc.assert(
    fc.property(digests, (keys) => {
      const [lines, map] = [new FirstLines(), new Map<bigint, number>()];
      for (const [index, key] of keys.entries()) {
        expect(lines.earlier(key, index + 1)).toBe(map.get(key) ?? null);
        if (!map.has(key)) map.set(key, index + 1);
      }
    }),
    { numRuns: 50 },
  );
});
