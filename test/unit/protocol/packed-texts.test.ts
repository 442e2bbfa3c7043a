import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packBytes, packTexts, unpackBytes, unpackTexts } from '#protocol/packed-texts.ts';
import { Scratch } from '#protocol/scratch.ts';

const texts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', minLength: 9000 })));
const scratch = new Scratch();

describe('packed texts', () => {
  it('come back as they went, as text and as bytes', () => {
    fc.assert(
      fc.property(texts, (given) => {
        expect(unpackTexts(packTexts(given))).toEqual(given);
        expect(unpackBytes(packBytes(given, scratch))).toEqual(given);
      }),
    );
  });

  it('have a line of lengths before them', () => {
    expect(packTexts(['find', '{}', ''])).toBe('4,2,0\nfind{}');
    expect(packBytes(['é'], scratch).toString()).toBe('2\né');
  });

  it.each(['', 'x', '1', '1,\nx', '2\nx', '1\nxy', '-1,2\nx', '1e0\nx', '0.5,0.5\nx', ' 1\nx'])(
    'are not %j',
    (text) => {
      expect(unpackTexts(text)).toBeNull();
      expect(unpackBytes(Buffer.from(text))).toBeNull();
    },
  );
});
