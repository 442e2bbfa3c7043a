import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesNumbers, type Json, JsonError, JsonNumber, parseJson } from '#protocol/json.ts';
import { brokenText, jsonText, numberText } from './json-texts.ts';

/** As the native parser reads: doubles, ordinary objects. */
function toNative(json: Json): unknown {
  if (json instanceof JsonNumber) return Number(json.text) || 0;
  if (Array.isArray(json)) return json.map(toNative);
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.keys(json).map((name) => [name, toNative(json[name] ?? null)]));
}

/** The native value, with the one difference that is meant: a zero has no sign. */
function native(text: string): unknown {
  return JSON.parse(text, (_name, value) => (value === 0 ? 0 : value));
}

/** A fraction of big integers: the exact value of a number's text, worked out without the code under test. */
function fractionOf(token: string): readonly [bigint, bigint] {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token);
  if (match === null) throw new Error(`no number: ${token}`);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent) - fraction.length;
  const mantissa = BigInt(sign + whole + fraction);
  return shift >= 0 ? [mantissa * 10n ** BigInt(shift), 1n] : [mantissa, 10n ** BigInt(-shift)];
}

function isSameNumber(a: string, b: string): boolean {
  const [[p, q], [r, s]] = [fractionOf(a), fractionOf(b)];
  return p * s === r * q;
}

function refusal(text: string, options = {}): JsonError {
  try {
    parseJson(text, options);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 80)}`);
}

describe('against JSON.parse', () => {
  test('every valid text is read to the same value', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        deepStrictEqual(toNative(parseJson(text)), native(text));
      }),
      { numRuns: 1500 },
    );
  });

  test('what it refuses is refused; what is refused beyond that is named', () => {
    fc.assert(
      fc.property(brokenText, (text) => {
        let expected: { value: unknown } | null;
        try {
          expected = { value: native(text) };
        } catch {
          expected = null;
        }
        let kind: string | null = null;
        try {
          deepStrictEqual({ value: toNative(parseJson(text)) }, expected);
        } catch (error) {
          if (!(error instanceof JsonError)) throw error;
          kind = error.kind;
        }
        if (kind === 'syntax') expect(expected).toBeNull();
      }),
      { numRuns: 4000 },
    );
  });

  test('says truly whether a number would change', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const tokens = JSON.stringify(parseJson(text)) === undefined ? [] : numberTokens(text);
        const isChanged = tokens.some((token) => !isSameNumber(token, decimalTextOf(Number(token))));
        expect(changesNumbers(text)).toBe(isChanged);
      }),
      { numRuns: 1000 },
    );
    const hidden = String.raw`\\9007199254740993\"`.repeat(300_000);
    expect(changesNumbers(`["${hidden}",1]`)).toBe(false);
    expect(changesNumbers(`["${hidden}",9007199254740993]`)).toBe(true);
    expect(changesNumbers('"9007199254740993"')).toBe(false);
    expect(changesNumbers('{"a\\"":"\\\\","b":9007199254740993}')).toBe(true);
    expect(changesNumbers('[1e400]')).toBe(true);
    expect(changesNumbers('[1e-400]')).toBe(true);
    expect(changesNumbers('[123e20, -0, 1.10, 0.1, 1e-7]')).toBe(false);
  });
});

/** The shortest text of a double; exact enough to be compared as it is the value that `String` stands for. */
function decimalTextOf(double: number): string {
  return double === 0 ? '0' : String(double);
}

/** By the source text that the native reviver is given. */
function numberTokens(text: string): string[] {
  const tokens: string[] = [];
  const parse = JSON.parse as (
    text: string,
    reviver: (n: string, v: unknown, c: { source?: string }) => unknown,
  ) => void;
  parse(text, (_name, value, context) => {
    if (typeof value === 'number' && context.source !== undefined) tokens.push(context.source);
    return value;
  });
  return tokens;
}

describe('numbers', () => {
  test('keep every digit', () => {
    fc.assert(
      fc.property(numberText, (token) => {
        const value = parseJson(token);
        const text = value instanceof JsonNumber ? value.text : String(value);
        expect(isSameNumber(text, token)).toBe(true);
        // A plain number wherever a double is exact: most readers need not know of JsonNumber.
        if (value instanceof JsonNumber) expect(isSameNumber(String(Number(token)), token)).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });

  test('of one value have one text', () => {
    fc.assert(
      fc.property(numberText, fc.integer({ min: 1, max: 30 }), (token, zeros) => {
        const [mantissa = '', exponent = '0'] = token.split(/[eE]/);
        const respelled = `${mantissa}${mantissa.includes('.') ? '' : '.'}${'0'.repeat(zeros)}E${exponent}`;
        expect(parseJson(respelled)).toEqual(parseJson(token));
      }),
    );
  });

  test.each([
    ['1.0', 1],
    ['1e2', 100],
    ['-0', 0],
    ['-0.0e5', 0],
    ['9007199254740993.0', '9007199254740993'],
    ['0.1000000000000000055511151231257827', '0.1000000000000000055511151231257827'],
    ['1e-400', '1e-400'],
    ['123456789012345678901234567890e-350', '1.2345678901234567890123456789e-321'],
  ])('%s', (text, expected) => {
    const value = parseJson(text);
    expect(value instanceof JsonNumber ? value.text : value).toBe(expected);
  });

  test('that overflow are refused, or kept and marked', () => {
    for (const text of ['1e309', '-1e309', '1e999999999999999999999', '9'.repeat(400)]) {
      expect(refusal(text).kind).toBe('overflow');
      expect(parseJson(text, { overflow: 'keep' })).toMatchObject({ overflows: true });
    }
    expect(parseJson('1e999999999', { overflow: 'keep' })).toMatchObject({ text: '1e+999999999' });
  });
});

describe('refusals', () => {
  test.each([
    ['{"a":1,"a":1}', 'duplicate', 7],
    ['{"a":1,"\\u0061":1}', 'duplicate', 7],
    ['[{"x":{"b":null,"b":2}}]', 'duplicate', 16],
    ['{"__proto__":1}', 'proto', 1],
    ['{"\\u005f_proto__":{}}', 'proto', 1],
    ['', 'syntax', 0],
    ['\ufeff{}', 'syntax', 0],
    ['{} {}', 'syntax', 3],
    ['[1,]', 'syntax', 3],
    ['{"a":1,}', 'syntax', 7],
    ['01', 'syntax', 0],
    ['-', 'syntax', 1],
    ['1.', 'syntax', 2],
    ['.5', 'syntax', 0],
    ['1e', 'syntax', 2],
    ['+1', 'syntax', 0],
    ['0x10', 'syntax', 1],
    ['NaN', 'syntax', 0],
    ['nul', 'syntax', 0],
    ['"a', 'syntax', 2],
    ['"a\\', 'syntax', 4],
    ['"\\x"', 'syntax', 0],
    ['"a\nb"', 'syntax', 2],
    ["{'a':1}", 'syntax', 1],
    ['{a:1}', 'syntax', 1],
    ['[1 2]', 'syntax', 3],
    ['{"a" 1}', 'syntax', 5],
    ['[1}', 'syntax', 2],
  ])('%s', (text, kind, position) => {
    expect(refusal(text)).toMatchObject({ kind, position });
  });

  test('deeper than allowed, and a hostile depth without a crash', () => {
    expect(parseJson('['.repeat(128) + ']'.repeat(128))).toBeInstanceOf(Array);
    expect(refusal('['.repeat(129) + ']'.repeat(129)).kind).toBe('depth');
    expect(refusal('{"a":'.repeat(500_000)).kind).toBe('depth');
    expect(refusal('[[1]]', { maxDepth: 1 }).kind).toBe('depth');
  });
});

test('names are read as they stand, whatever was read before', () => {
  for (const name of ['\\', 'a', '"', 'b\\u0061', 'ba']) {
    const spelled = Array.from(name, (character) => `\\u00${character.charCodeAt(0).toString(16)}`).join('');
    for (const text of [`{"k":1,${JSON.stringify(name)}:2}`, `{"k":1,"${spelled}":2}`]) {
      expect(Object.keys(parseJson(text) as object)).toEqual(['k', name]);
    }
  }
});

test('objects inherit nothing', () => {
  const object = parseJson('{"constructor":1}') as Record<string, unknown>;
  expect(object.constructor).toBe(1);
  expect(object.toString).toBeUndefined();
  expect((parseJson('{}') as Record<string, unknown>).hasOwnProperty).toBeUndefined();
  expect('__proto__' in object).toBe(false);
});
