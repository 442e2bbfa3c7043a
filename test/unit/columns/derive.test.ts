import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column, ColumnType } from '#protocol/columns.ts';
import { foldText } from '#protocol/fold.ts';
import type { Value } from '#protocol/values.ts';
import { derivedOf, deriveInto } from '#sidecar/columns/derive.ts';

const PLAIN = { nullable: true, unique: false, autoIncrement: false };
const source = (type: ColumnType): Column => ({ name: 'from', type, ...PLAIN });

/** Value that a column derives from a source with this value. */
function derived(column: Partial<Column> & Pick<Column, 'type'>, type: ColumnType, value: Value): Value | undefined {
  const { derived: options = { from: 'from' }, ...rest } = column;
  const own: Column = { ...PLAIN, ...rest, name: 'to', derived: options };
  const values = new Map<string, Value>([['from', value]]);
  deriveInto(derivedOf([own, source(type)]), values);
  return values.get('to');
}

/** Letters with marks before and after them, of many scripts, ligatures, wide forms, white space of every kind. */
const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'aAéÉİıßẞﬁǅΣςＡ①Ñ\u0301\u0327 \u00a0\u2003\ufeff\t🚗가') }),
);

/** Marks of several classes, marks that decompose, and letters that decompose into marks. */
const MARKED = 'aΣ \u0301\u0327\u0315\u0345\u0344\u3099\u0f77\uff9e\uff9f\u{1d165}\u{1d15e}İ가\u1161\u11a8ﷺ';

describe('folding', () => {
  it('is what the contract says, step by step, character by character', () => {
    const withoutMarks = (text: string) => [...text].filter((letter) => !/^\p{M}$/u.test(letter)).join('');
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, length) => {
        const folded = withoutMarks(text.normalize('NFKD')).toLowerCase().trim().normalize('NFC');
        expect(foldText(text, length)).toBe([...folded].slice(0, length).join(''));
      }),
    );
  });

  it('is the same with marks taken out once, after decomposing', { timeout: 60_000 }, () => {
    const once = (text: string) =>
      text
        .normalize('NFKD')
        .replace(/\p{M}+/gu, '')
        .toLowerCase()
        .trim()
        .normalize('NFC');
    const differing: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      const letter = String.fromCodePoint(point);
      for (const text of [letter, `a${letter}\u0301Σ`, `\u0345\u0327${letter}ᄀ\u1161`]) {
        if (foldText(text, 1000) !== once(text)) differing.push(text);
      }
    }
    expect(differing).toEqual([]);
    const joined = fc.array(fc.oneof(texts, fc.string({ unit: fc.constantFrom(...MARKED) })), { maxLength: 8 });
    fc.assert(
      fc.property(
        joined.map((parts) => parts.join('')),
        (text) => {
          expect(foldText(text, 100_000)).toBe(once(text));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  it('takes time by length alone', () => {
    for (const unit of ['\u0301\u0327', '\u0315\u0327\uff9e', '\uff9e\uff9f', 'e\u0323\u0301']) {
      const startedMs = performance.now();
      foldText(unit.repeat(1_000_000 / unit.length), 4000);
      expect(performance.now() - startedMs).toBeLessThan(2000);
    }
  });

  it('makes one of what differs in case, accents, form and outer white space alone', () => {
    const marks = fc.array(fc.constantFrom('\u0301', '\u0308', '\u0327'), { maxLength: 3 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...'abcdefxyz 7'), marks)), (letters) => {
        const bare = letters.map(([letter]) => letter).join('');
        const spoken = `\u3000 ${letters.map(([letter, above]) => letter.toUpperCase() + above.join('')).join('')}\n`;
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD']) {
          expect(foldText(spoken.normalize(form), 4000)).toBe(foldText(bare, 4000));
        }
      }),
    );
  });

  it.each([
    ['  Ærøskøbing ', 'ærøskøbing'],
    ['İSTANBUL', 'istanbul'],
    ['ﬁancé', 'fiance'],
    ['Ångström', 'angstrom'],
    ['Œuvre', 'œuvre'],
    ['ＡＢＣ', 'abc'],
    ['Ёлка', 'елка'],
    ['\u0301', ''],
  ])('%j becomes %j', (text, folded) => {
    expect(foldText(text, 100)).toBe(folded);
  });
});

describe('a path', () => {
  const steps = fc.array(fc.oneof(fc.constantFrom('a', 'b', '0', '', 'constructor'), fc.nat(3)), { maxLength: 4 });
  const leaf = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });

  it('leads to what was put there, and to nothing where another kind of thing stands', () => {
    fc.assert(
      fc.property(steps, leaf, (path, value) => {
        const put = (rest: readonly (string | number)[]): string => {
          const [step, ...more] = rest;
          if (step === undefined) return String(value);
          if (typeof step === 'string') return `{"x":1,${JSON.stringify(step)}:${put(more)}}`;
          return `[${[...Array.from({ length: step }, () => 'null'), put(more)]}]`;
        };
        const taken = (way: readonly (string | number)[]) =>
          derived({ type: 'int32', derived: { from: 'from', path: way } }, 'json', put(path));
        expect(taken(path)).toBe(value);
        expect(taken([...path, 'a'])).toBeNull();
        expect(taken([...path, 0])).toBeNull();
        const [first, ...rest] = path;
        if (first !== undefined) expect(taken([typeof first === 'string' ? 0 : 'x', ...rest])).toBeNull();
      }),
    );
  });

  it('keeps every digit, and gives NULL for what does not fit', () => {
    expect(derived({ type: 'int64' }, 'json', '9223372036854775807')).toBe(2n ** 63n - 1n);
    expect(derived({ type: 'int64' }, 'json', '9223372036854775808')).toBeNull();
    const exact = '1234567890123456789012345678901.234';
    expect(derived({ type: 'decimal', precision: 34, scale: 3 }, 'json', exact)).toBe(exact);
    expect(derived({ type: 'decimal', precision: 34, scale: 2 }, 'json', exact)).toBeNull();
    expect(derived({ type: 'string', length: 3 }, 'json', '"abcd"')).toBeNull();
    expect(derived({ type: 'string', length: 3, derived: { from: 'from', fold: true } }, 'json', '"ABCD"')).toBe('abc');
    expect(derived({ type: 'string', length: 9, oneOf: ['a'] }, 'text', 'b')).toBeNull();
    expect(derived({ type: 'uuid' }, 'json', '"0F8FAD5B-D9CB-469F-A165-70867728950E"')).toBe(
      '0f8fad5b-d9cb-469f-a165-70867728950e',
    );
    expect(derived({ type: 'date' }, 'json', '"2023-02-29"')).toBeNull();
  });
});

it('is left as it is where its source is not there, and NULL where that is NULL', () => {
  const column: Column = { ...PLAIN, name: 'to', type: 'string', length: 9, derived: { from: 'from', fold: true } };
  const values = new Map<string, Value>([['other', 'x']]);
  deriveInto(derivedOf([column, source('text')]), values);
  expect(values.has('to')).toBe(false);
  expect(derived({ type: 'string' }, 'text', null)).toBeNull();
});
