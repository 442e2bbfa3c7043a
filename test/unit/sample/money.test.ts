import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { showMoney, toCents, toDecimal } from '#sample/money.ts';

describe('money', () => {
  it.each([
    ['12', 1200n],
    ['12.5', 1250n],
    ['-0.05', -5n],
    [12.34, 1234n],
    ['9007199254740993.01', 900_719_925_474_099_301n],
  ])('reads %s to the cent', (amount, cents) => {
    expect(toCents(amount)).toBe(cents);
  });

  it.each(['', '1.234', '1,5', '.5', '1.', '1e3', 'NaN', '--1', ' 1'])('refuses %j', (amount) => {
    expect(() => toCents(amount)).toThrow('not an amount');
  });

  it('reads back what it writes', () => {
    fc.assert(fc.property(fc.bigInt(), (cents) => toCents(toDecimal(cents)) === cents));
  });

  it('shows thousands', () => {
    expect([0n, 5n, -5n, 123_456n, -123_456_789n].map(showMoney)).toEqual([
      '0.00',
      '0.05',
      '-0.05',
      '1,234.56',
      '-1,234,567.89',
    ]);
  });
});
