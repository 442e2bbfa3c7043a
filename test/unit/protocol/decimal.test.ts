import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalOf, floorToScale, plainText, scaledText, scientificText } from '#protocol/decimal.ts';

const token = fc
  .tuple(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), fc.integer({ min: -30, max: 12 }))
  .map(([mantissa, exponent]) => ({ mantissa, exponent, text: `${mantissa}e${exponent}` }));

test('the floor at a scale is that of exact division', () => {
  fc.assert(
    fc.property(token, fc.nat({ max: 20 }), ({ mantissa, exponent, text }, scale) => {
      const shift = exponent + scale;
      const divisor = 10n ** BigInt(Math.max(0, -shift));
      const dividend = mantissa * 10n ** BigInt(Math.max(0, shift));
      const remainder = ((dividend % divisor) + divisor) % divisor;
      expect(floorToScale(decimalOf(text), scale)).toEqual({
        scaled: (dividend - remainder) / divisor,
        exact: remainder === 0n,
      });
    }),
    { numRuns: 1000 },
  );
});

test('every text of a number is the same number', () => {
  fc.assert(
    fc.property(token, ({ text }) => {
      const value = decimalOf(text);
      expect(decimalOf(plainText(value))).toEqual(value);
      expect(decimalOf(scientificText(value))).toEqual(value);
      expect(plainText(value)).toMatch(/^(0|-?(0|[1-9]\d*)(\.\d*[1-9])?)$/);
    }),
  );
});

test('scaled integers are written with their point', () => {
  expect(scaledText(-1250n, 2)).toBe('-12.5');
  expect(scaledText(5n, 3)).toBe('0.005');
  expect(scaledText(0n, 3)).toBe('0');
  expect(scaledText(1200n, 0)).toBe('1200');
});

test('hostile numbers cost nothing', () => {
  expect(decimalOf('1e999999999999999999999999').point).toBe(1e15 + 1);
  expect(decimalOf(`${'0'.repeat(500_000)}1${'0'.repeat(500_000)}`)).toEqual({
    negative: false,
    digits: '1',
    point: 500_001,
  });
  expect(floorToScale(decimalOf('-1e-999999999'), 2)).toEqual({ scaled: -1n, exact: false });
});
