import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasLongNumber } from '#connector/helper/has-long-number.ts';

const PATTERN = /[[:,][ \t\r\n]*-?[0-9.]{16}/;

describe('a long number', () => {
  it('is found if a pattern finds one, wherever it stands', () => {
    const digits = fc.stringMatching(/^[0-9.]{1,40}$/);
    const between = fc.constantFrom('"', ':', ',', '[', ' ', '\n', '-', 'x', 'e', ']', 'yyyyyyyyyyyyyyyyy');
    const text = fc.array(fc.oneof(between, digits), { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (json) => {
        expect(hasLongNumber(json)).toBe(PATTERN.test(json));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"a":1234567890123456}', true],
    ['{"a":[0,-1234567.890123456]}', true],
    ['{"a": \n 1234567890123456}', true],
    ['{"a":123456789012345,"b":123456789012345}', false],
    ['{"a":"1234567890123456"}', false],
    ['{"a":"steam:1234567890123456"}', true],
    ['1234567890123456', false],
    ['', false],
  ])('%s: %s', (json, expected) => {
    expect(hasLongNumber(json)).toBe(expected);
    for (let shift = 1; shift < 20; shift += 1) expect(hasLongNumber(' '.repeat(shift) + json)).toBe(expected);
  });

  it('takes time by the length of the text alone', () => {
    let reads = 0;
    const text = Object.assign(Object.create(null), {
      length: 100_000,
      charCodeAt(at: number) {
        reads += 1;
        return at >= 0 && at < this.length ? 0x31 : Number.NaN;
      },
      0: '1',
    });
    expect(hasLongNumber(text)).toBe(false);
    expect(reads).toBeLessThan(3 * 100_000);
  });
});
