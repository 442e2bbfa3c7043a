import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommandLineError, splitCommandLine } from '#standalone/command-table.ts';

describe('a console line', () => {
  it.each<[string, string[]]>([
    ['', []],
    ['   \t ', []],
    ['quit', ['quit']],
    ['  rp-pay 1  2\t12.50 ', ['rp-pay', '1', '2', '12.50']],
    [`say 'two words' "and two"`, ['say', 'two words', 'and two']],
    [`a'b c'd"e f"`, ['ab cde f']],
    [`'' ""`, ['', '']],
    [`'a\\b' "a\\"b\\\\c\\d"`, ['a\\b', 'a"b\\c\\d']],
    ['a\\ b \\"c', ['a b', '"c']],
    [`"it's" 'say "hi"'`, ["it's", 'say "hi"']],
    ['ends\\', ['ends\\']],
    ['rp-find Zoë 🦊', ['rp-find', 'Zoë', '🦊']],
  ])('%s', (line, words) => {
    expect(splitCommandLine(line)).toEqual(words);
  });

  it('carries any words between single quotes, and any between double ones', () => {
    const word = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const single = words.map((text) => `'${text.replaceAll("'", `'"'"'`)}'`).join(' ');
        const double = words.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join('  ');
        expect(splitCommandLine(single)).toEqual(words);
        expect(splitCommandLine(double)).toEqual(words);
      }),
    );
  });

  it('with a quote that is not closed is refused', () => {
    for (const line of [`say 'hi`, `say "hi`, `say "hi\\"`, `it's`]) {
      expect(() => splitCommandLine(line), line).toThrow(CommandLineError);
    }
  });
});
