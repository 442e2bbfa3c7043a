import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from '#protocol/canonical-json.ts';
import { exactNumber, JsonError, JsonNumber, parseJson, writeJson } from '#protocol/json.ts';
import { jsonText } from './json-texts.ts';

test('what is written reads back the same, digit for digit', () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      const value = parseJson(text);
      const written = writeJson(value);
      expect(parseJson(written)).toEqual(value);
      expect(writeJson(parseJson(written))).toBe(written);
      // The native writer keeps the digits as well.
      expect(JSON.stringify(value)).toBe(written);
    }),
    { numRuns: 1000 },
  );
});

test('canonical JSON does not depend on the order of properties, spaces or the spelling of numbers', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 8 }), fc.nat(), (object, seed) => {
      const names = Object.keys(object).filter((name) => name !== '__proto__');
      const shuffled = names.toSorted((a, b) => ((a.length * 31 + seed) % 7) - ((b.length * 31 + seed) % 7)).reverse();
      const pick = (list: string[]) => Object.fromEntries(list.map((name) => [name, object[name]]));
      const [one, other] = [JSON.stringify(pick(names)), JSON.stringify(pick(shuffled), null, 2)];
      fc.pre(!one.includes('__proto__'));
      expect(canonicalJson(parseJson(one))).toBe(canonicalJson(parseJson(other)));
    }),
  );
  expect(canonicalJson(parseJson('[1.0,1e2,-0]'))).toBe('[1,100,0]');
});

test('names are in the order of UTF-16 code units at every level', () => {
  const text = canonicalJson(parseJson('{"b":[{"\u{1F600}":1,"\uFB33":2,"a":3}],"a":{"B":1,"a":2,"10":3,"9":4}}'));
  expect(text).toBe('{"a":{"10":3,"9":4,"B":1,"a":2},"b":[{"a":3,"\u{1F600}":1,"\uFB33":2}]}');
});

test('writes what scripts hold: big integers, dates, exact numbers; leaves out undefined', () => {
  const value = {
    id: 9007199254740993n,
    money: exactNumber('123.450000000000000001'),
    at: new Date(0),
    gone: undefined,
  };
  expect(writeJson(value)).toBe(
    '{"id":9007199254740993,"money":123.450000000000000001,"at":"1970-01-01T00:00:00.000Z"}',
  );
  expect(writeJson([undefined, -0, 'é\u0001\ud800'])).toBe('[null,0,"é\\u0001\\ud800"]');
});

test('refuses what JSON cannot say', () => {
  const ring: { [name: string]: unknown } = {};
  ring.self = ring;
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, { a: [Number.NaN] }]) {
    expect(() => writeJson(value)).toThrow(TypeError);
  }
  expect(() => writeJson(ring as never)).toThrow(/circular/);
  expect(() => writeJson((() => 1) as never)).toThrow(/function/);
});

test('an exact number is a plain one wherever a double keeps its digits', () => {
  expect(exactNumber('123.45')).toBe(123.45);
  expect(exactNumber('-0')).toBe(0);
  expect(exactNumber('9007199254740993')).toBeInstanceOf(JsonNumber);
  expect(() => exactNumber('12,5')).toThrow(JsonError);
  expect(() => exactNumber('')).toThrow(JsonError);
  expect(() => exactNumber(' 1')).toThrow(JsonError);
});
