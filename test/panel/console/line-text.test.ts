import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine, MAX_LINE_CHARS } from '#panel/console/line-text.ts';

describe('one line as it is kept', () => {
  it.each([
    ['a colour stays', '\x1b[31mred\x1b[0m', '\x1b[31mred\x1b[0m'],
    ['so does one of 24 bits', '\x1b[38;2;1;2;3mx', '\x1b[38;2;1;2;3mx'],
    ['clearing the screen goes', 'a\x1b[2Jb\x1b[1;1Hc', 'abc'],
    ['a title goes, with its text', 'a\x1b]0;title\x07b\x1b]2;other\x1b\\c', 'abc'],
    ['a link goes, its words stay', '\x1b]8;;http://x.example\x07word\x1b]8;;\x07', 'word'],
    ['a private sequence that ends like a colour goes', '\x1b[>4;2mx\x1b[?25lx', 'xx'],
    ['device strings go', 'a\x1bPq#0\x1b\\b\x1b_app\x1b\\c\x1b^pm\x1b\\d\x1bXsos\x1b\\e', 'abcde'],
    ['short escapes go', 'a\x1bcb\x1b7c\x1b(Bd\x1b', 'abcd'],
    ['a string without an end takes the rest', 'a\x1b]0;title', 'a'],
    ['control characters become pictures', 'a\0b\x07c\bd\re\nf\x7fg', 'a␀b␇c␈d␍e␊f␡g'],
    ['8-bit controls are shown as unknown', 'a\x9b31mb', 'a�31mb'],
    ['separators of lines are no lines', 'a\u2028b\u2029c', 'a␤b␤c'],
    ['tabs and all languages stay', 'a\tż 漢 🙂', 'a\tż 漢 🙂'],
    ['sequences within sequences leave nothing behind', '\x1b\x1b]x\x07[31mz', '[31mz'],
    ['a colour of too many numbers goes', `\x1b[${'1;'.repeat(60)}mx`, 'x'],
  ])('%s', (_name, given, kept) => {
    expect(cleanLine(given)).toBe(kept);
  });

  it('is cut at 16,384 characters', () => {
    expect(cleanLine('x'.repeat(2 ** 20))).toBe('x'.repeat(MAX_LINE_CHARS));
  });

  it('is not cut through a character or through an escape sequence', () => {
    expect(cleanLine(`${'x'.repeat(MAX_LINE_CHARS - 1)}🙂`)).toBe('x'.repeat(MAX_LINE_CHARS - 1));
    expect(cleanLine(`${'x'.repeat(MAX_LINE_CHARS - 3)}\x1b[31mred`)).toBe('x'.repeat(MAX_LINE_CHARS - 3));
  });

  it('takes hostile input of a million characters at once', () => {
    const began = performance.now();
    for (const piece of ['\x1b[', '\x1b]', '\x1bP', '\x1b[1;', '\x1b ', '\x9d']) cleanLine(piece.repeat(300_000));
    expect(performance.now() - began).toBeLessThan(5000);
  });

  it('holds no control but tab and colours, whatever came in, and is the same when cleaned again', () => {
    const pieces = fc.constantFrom(
      '\x1b',
      '[',
      ']',
      '31',
      ';',
      'm',
      'K',
      '\x07',
      '\\',
      'P',
      '\x9b',
      '\n',
      '\r',
      'a',
      '🙂',
      '\t',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const line = cleanLine(parts.join(''));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(line.replace(/\x1b\[[0-9;:]*m/g, '')).not.toMatch(/[\0-\x08\x0a-\x1f\x7f-\x9f]/);
        expect(cleanLine(line)).toBe(line);
      }),
    );
  });
});
