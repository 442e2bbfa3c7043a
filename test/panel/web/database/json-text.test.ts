import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  columnText,
  compactJson,
  ExactNumber,
  indentedJson,
  parseExact,
  shownText,
  writeExact,
} from '#panel/web/database/json-text.ts';

describe('JSON text of the database pages', () => {
  it('refuses what is no JSON', () => {
    expect(() => parseExact('{"a":01}')).toThrow(SyntaxError);
    expect(() => parseExact('[1,')).toThrow(SyntaxError);
  });

  it('shows all digits of the scale of a decimal, and nothing more', () => {
    const money = { type: 'decimal', scale: 2 };
    expect(['5', '1487.5', '-0.25', 'null'].map((json) => columnText(money, json))).toEqual([
      ...['5.00', '1487.50', '-0.25', 'null'],
    ]);
    expect(columnText({ type: 'decimal', scale: 0 }, '5')).toBe('5');
    expect(columnText({ type: 'float64' }, '1.5')).toBe('1.5');
    expect(columnText({ type: 'string' }, '"5"')).toBe('5');
  });

  it('keeps every digit of a number', () => {
    const text = '{"id":9223372036854775807,"sum":0.1000000000000000055511151231257827,"list":[1e400,-0]}';
    expect(writeExact(parseExact(text))).toBe(text);
    expect(parseExact('9007199254740993')).toEqual(new ExactNumber('9007199254740993'));
  });

  it('takes digits inside of strings for text', () => {
    expect(parseExact('{"9007199254740993":"9007199254740993 \\"12\\""}')).toEqual({
      '9007199254740993': '9007199254740993 "12"',
    });
  });

  it('reads any JSON as the browser does, numbers apart', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(writeExact(parseExact(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('indents and compacts without another value, order or digit', () => {
    const text = '{"b":[{"2":9007199254740993},[]],"a":{},"1":"x, y: {z}"}';
    const lines = indentedJson(text);
    expect(lines.split('\n')).toHaveLength(10);
    expect(compactJson(lines)).toBe(text);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const any = JSON.stringify(value);
        expect(compactJson(indentedJson(any))).toBe(any);
      }),
    );
  });

  it('shows a string without its quotes and everything else as it is', () => {
    expect(shownText('"<b>\\u00e4</b>"')).toBe('<b>ä</b>');
    expect(shownText('9007199254740993')).toBe('9007199254740993');
    expect(shownText('null')).toBe('null');
  });
});
