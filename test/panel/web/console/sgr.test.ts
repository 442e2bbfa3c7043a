import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSgr, plainText } from '#panel/web/console/sgr.ts';

const ESC = '\u001b';
/** Texts in which sequences, halves of them and hostile characters are frequent. */
const HOSTILE = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        `${ESC}[31m`,
        `${ESC}[0m`,
        `${ESC}[`,
        ESC,
        `${ESC}[38;5;9m`,
        `${ESC}[48;2;1;2;3m`,
        `${ESC}]0;x\u0007`,
        '\u009b1m',
        '\u202e',
        '\t',
      ),
      fc.integer().map((code) => `${ESC}[${code}m`),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

describe('colours of console lines', () => {
  it('leave a plain line as it is', () => {
    expect(parseSgr('<b>hello</b>')).toEqual([{ text: '<b>hello</b>', classes: '' }]);
    expect(parseSgr('')).toEqual([]);
  });

  it('become classes, and end with the reset', () => {
    expect(parseSgr(`a${ESC}[1;31mb${ESC}[0mc`)).toEqual([
      { text: 'a', classes: '' },
      { text: 'b', classes: 'fg-1 sgr-bold' },
      { text: 'c', classes: '' },
    ]);
    expect(parseSgr(`${ESC}[mplain`)).toEqual([{ text: 'plain', classes: '' }]);
  });

  it.each([
    ['91', 'fg-9'],
    ['107', 'bg-15'],
    ['7', 'bg-7'],
    ['31;7', 'bg-1'],
    ['38;5;9', 'fg-9'],
    ['38;5;196', 'fg-9'],
    ['38;5;244', 'fg-8'],
    ['38;2;250;5;5', 'fg-9'],
    ['38:2::250:5:5', 'fg-9'],
    ['48;5;2;1', 'bg-2 sgr-bold'],
    ['38;5;999', ''],
    ['38;2;300;0;0', ''],
    ['1;22', ''],
    ['4;9;24', 'sgr-strike'],
  ])('%s is %s', (parameters, classes) => {
    expect(parseSgr(`${ESC}[${parameters}mx`)).toEqual([{ text: 'x', classes }]);
  });

  it('are the only sequences that do anything: the cursor, titles and links are dropped', () => {
    const line = `${ESC}[2J${ESC}[1;1Ha${ESC}]0;owned\u0007b${ESC}]8;;http://evil/${ESC}\\c${ESC}(0d${ESC}[?25le`;
    expect(parseSgr(line)).toEqual([{ text: 'abcde', classes: '' }]);
  });

  it('never hide text: what is invisible or turns letters round is made visible', () => {
    expect(plainText('a\u202eb\u0007c\u2066')).toBe('a\\u{202e}b\\u{7}c\\u{2066}');
    expect(parseSgr(`${ESC}[8msecret`)).toEqual([{ text: 'secret', classes: '' }]);
  });

  it('cost at most a hundred pieces a line', () => {
    const line = Array.from({ length: 5_000 }, (_, index) => `${ESC}[3${index % 8}mx`).join('');
    expect(parseSgr(line)).toHaveLength(100);
    expect(plainText(line)).toHaveLength(5_000);
  });

  it('give pieces that make up the plain text, of any line', () => {
    fc.assert(
      fc.property(HOSTILE, (line) => {
        const spans = parseSgr(line);
        expect(spans.map((span) => span.text).join('')).toBe(plainText(line));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what may not be left
        expect(plainText(line)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        for (const span of spans) expect(span.classes).toMatch(/^((fg|bg)-\d{1,2}|sgr-[a-z]+| )*$/);
      }),
    );
  });

  it('are read in time that grows with the line, however hostile', () => {
    const started = performance.now();
    parseSgr(`${ESC}]`.repeat(100_000));
    parseSgr(`${ESC}[${';'.repeat(200_000)}`);
    parseSgr(`${ESC}[`.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
