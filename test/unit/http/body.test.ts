import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJsonType } from '#sidecar/http/body.ts';

/** The rule as one pattern, which is quadratic in blanks. */
const RULE = /^[ \t]*application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i;

it('follows the rule', () => {
  const part = fc.constantFrom('application/json', ';', ' ', '\t', 'charset', '=', 'UTF-8', '"utf-8"', 'x', '\u00a0');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.boolean(), (parts, isBegun) => {
      const type = `${isBegun ? 'application/json' : ''}${parts.join('')}`;
      expect(isJsonType(type), type).toBe(RULE.test(type));
    }),
    { numRuns: 5000 },
  );
});

it('refuses what is longer than 256 characters, and no type', () => {
  expect(isJsonType(`application/json${' '.repeat(240)}`)).toBe(true);
  expect(isJsonType(`application/json${' '.repeat(241)}`)).toBe(false);
  expect(isJsonType(undefined)).toBe(false);
});
