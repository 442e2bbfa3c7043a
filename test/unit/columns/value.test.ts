import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Column, ColumnType } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { parseJson } from '#protocol/json.ts';
import { parseAmount } from '#protocol/value-numbers.ts';
import { parseValue, type Value, writeValue } from '#protocol/values.ts';

function column(type: ColumnType, more: Partial<Column> = {}): Column {
  return { name: 'c', type, nullable: false, unique: false, autoIncrement: false, ...more };
}

function read(target: Column, text: string): Value {
  return parseValue(target, parseJson(text, { overflow: 'keep' }), 'rows[3].c');
}

/** Answered text of a value after it was written. */
function roundTrip(target: Column, text: string): string {
  return writeValue(target, read(target, text));
}

function refusal(target: Column, text: string): string {
  try {
    read(target, text);
  } catch (error) {
    if (error instanceof ApiError) return error.message.startsWith('rows[3].c: ') ? error.code : error.message;
    throw error;
  }
  return 'accepted';
}

const int32 = column('int32');
const int64 = column('int64');
const money = column('decimal', { precision: 18, scale: 2 });
const wide = column('decimal', { precision: 34, scale: 17 });
const float64 = column('float64');
const name = column('string', { length: 5 });
const text = column('text');
const json = column('json');
const datetime = column('datetime');
const date = column('date');
const uuid = column('uuid');
const bytes = column('bytes');
const quoted = (value: string) => JSON.stringify(value);

describe('accepted, and how it comes back', () => {
  test.each<[string, Column, string, string]>([
    ['int32 by value', int32, '1e2', '100'],
    ['int32 -0', int32, '-0.0', '0'],
    ['int32 ends', int32, '-2147483648', '-2147483648'],
    ['int64 beyond 2^53', int64, '9007199254740993', '9007199254740993'],
    ['int64 that a double prints but does not hold', int64, '50077490033206330', '50077490033206330'],
    ['int64 with zeros behind the point', int64, '9223372036854775807.000', '9223372036854775807'],
    ['int64 least', int64, '-9223372036854775808', '-9223372036854775808'],
    ['decimal number', money, '12.50', '12.5'],
    ['decimal text', money, '"-0012.50"', '-12.5'],
    ['decimal text zero', money, '"-0.00"', '0'],
    ['decimal with an exponent', money, '125e-1', '12.5'],
    ['decimal of all digits', money, '9999999999999999.99', '9999999999999999.99'],
    ['decimal of 34 digits', wide, '12345678901234567.12345678901234567', '12345678901234567.12345678901234567'],
    [
      'decimal that a double prints with an exponent',
      column('decimal', { precision: 34, scale: 0 }),
      '1e33',
      `1${'0'.repeat(33)}`,
    ],
    [
      'decimal that a double prints with an exponent, small',
      column('decimal', { precision: 34, scale: 34 }),
      '1e-30',
      `0.${'0'.repeat(29)}1`,
    ],
    ['float64 shortest', float64, '0.1000000000000000055511151231257827', '0.1'],
    ['float64 -0', float64, '-0', '0'],
    ['float64 great', float64, '1.7976931348623157e308', '1.7976931348623157e+308'],
    ['float64 too small', float64, '-1e-400', '0'],
    ['string counts code points', name, '"🚗🚗🚗🚗🚗"', '"🚗🚗🚗🚗🚗"'],
    ['string keeps spaces and case', name, '" Aé "', '" Aé "'],
    ['text', text, '"\\u0001\\n\\""', '"\\u0001\\n\\""'],
    [
      'json',
      json,
      '{ "b" : [1.0, 12345678901234567890, null], "a": {"b":"\\u00e9"} }',
      '{"b":[1,12345678901234567890,null],"a":{"b":"é"}}',
    ],
    ['json scalar', json, '0.10', '0.1'],
    ['json false', json, 'false', 'false'],
    ['datetime in UTC', datetime, '"2024-02-29T23:59:59Z"', '"2024-02-29T23:59:59.000Z"'],
    ['datetime without zone', datetime, '"2024-02-29T23:59:59.1"', '"2024-02-29T23:59:59.100Z"'],
    ['datetime with offset', datetime, '"2024-03-01T00:30:00.1239+01:00"', '"2024-02-29T23:30:00.123Z"'],
    ['datetime with a negative offset', datetime, '"2023-12-31T23:00:00-02:30"', '"2024-01-01T01:30:00.000Z"'],
    ['datetime of year 1', datetime, '"0001-01-01T00:00:00"', '"0001-01-01T00:00:00.000Z"'],
    ['datetime of year 1 by offset', datetime, '"0099-12-31T23:30:00-01:00"', '"0100-01-01T00:30:00.000Z"'],
    ['datetime of year 9999', datetime, '"9999-12-31T23:59:59.9999"', '"9999-12-31T23:59:59.999Z"'],
    ['date of a leap year', date, '"2000-02-29"', '"2000-02-29"'],
    ['uuid', uuid, '"0F8FAD5B-D9CB-469F-A165-70867728950E"', '"0f8fad5b-d9cb-469f-a165-70867728950e"'],
    ['bytes', bytes, '"AAH/"', '"AAH/"'],
    ['no bytes', bytes, '""', '""'],
    ['bool', column('bool'), 'false', 'false'],
    ['null where it may be', column('int32', { nullable: true }), 'null', 'null'],
    ['json null is NULL', column('json', { nullable: true }), 'null', 'null'],
  ])('%s', (_name, target, given, expected) => {
    expect(roundTrip(target, given)).toBe(expected);
    // An answered value can be written back.
    expect(roundTrip(target, expected)).toBe(expected);
  });

  test('the greatest lengths', () => {
    const long = '🚗'.repeat(1_000_000);
    expect(read(text, quoted(long))).toBe(long);
    expect(read(bytes, quoted(Buffer.alloc(1_000_000).toString('base64')))).toHaveLength(1_000_000);
    const deep = '['.repeat(100) + ']'.repeat(100);
    expect(read(json, deep)).toBe(deep);
  });
});

describe('refused', () => {
  test.each<[string, Column, string, string]>([
    ['int32 too great', int32, '2147483648', 'invalid_value'],
    ['int32 fraction', int32, '1.5', 'invalid_value'],
    ['int32 text', int32, '"1"', 'invalid_value'],
    ['int32 bool', int32, 'true', 'invalid_value'],
    ['int64 too great', int64, '9223372036854775808', 'invalid_value'],
    ['int64 too small', int64, '-9223372036854775809', 'invalid_value'],
    ['int64 fraction', int64, '9007199254740993.5', 'invalid_value'],
    ['int64 an attack', int64, '1e999999999', 'invalid_value'],
    ['int64 1e300', int64, '1e300', 'invalid_value'],
    ['decimal digits before the point', money, '10000000000000000', 'invalid_value'],
    ['decimal digits after the point', money, '0.001', 'invalid_value'],
    ['decimal many digits', money, '0.1000000000000000000000000000001', 'invalid_value'],
    ['decimal an attack', money, '1e999999999', 'invalid_value'],
    ['decimal a small attack', money, '1e-999999999', 'invalid_value'],
    ['decimal text with exponent', money, '"1e2"', 'invalid_value'],
    ['decimal text with plus', money, '"+1"', 'invalid_value'],
    ['decimal text with space', money, '" 1"', 'invalid_value'],
    ['decimal text without digits before the point', money, '".5"', 'invalid_value'],
    ['decimal text without digits after the point', money, '"5."', 'invalid_value'],
    ['decimal empty text', money, '""', 'invalid_value'],
    ['float64 infinite', float64, '1e309', 'invalid_value'],
    ['float64 text', float64, '"1"', 'invalid_value'],
    ['bool as number', column('bool'), '1', 'invalid_value'],
    ['string too long', name, '"abcdef"', 'value_too_long'],
    ['string too long in code points', name, '"🚗🚗🚗🚗🚗🚗"', 'value_too_long'],
    ['string with U+0000', name, '"a\\u0000"', 'invalid_value'],
    ['string with half a pair', name, '"\\ud83d"', 'invalid_value'],
    ['string as number', name, '5', 'invalid_value'],
    ['text too long', text, quoted('a'.repeat(1_000_001)), 'value_too_long'],
    ['json with U+0000', json, '{"a":["\\u0000"]}', 'invalid_value'],
    ['json with U+0000 in a name', json, '{"\\u0000":1}', 'invalid_value'],
    ['json with half a pair', json, '["\\udc00"]', 'invalid_value'],
    ['json with a number too great', json, '[1e400]', 'invalid_value'],
    ['json with a number too small', json, '[1e-400]', 'invalid_value'],
    ['json too deep', json, '['.repeat(101) + ']'.repeat(101), 'invalid_value'],
    ['datetime of a day that is not', datetime, '"2023-02-29T00:00:00Z"', 'invalid_value'],
    ['datetime with a space', datetime, '"2024-01-01 00:00:00"', 'invalid_value'],
    ['datetime in lower case', datetime, '"2024-01-01t00:00:00z"', 'invalid_value'],
    ['datetime of hour 24', datetime, '"2024-01-01T24:00:00"', 'invalid_value'],
    ['datetime of second 60', datetime, '"2024-01-01T23:59:60Z"', 'invalid_value'],
    ['datetime without seconds', datetime, '"2024-01-01T23:59Z"', 'invalid_value'],
    ['datetime with an empty fraction', datetime, '"2024-01-01T23:59:00.Z"', 'invalid_value'],
    ['datetime with a short offset', datetime, '"2024-01-01T23:59:00+01"', 'invalid_value'],
    ['datetime with an offset that is not', datetime, '"2024-01-01T23:59:00+24:00"', 'invalid_value'],
    ['datetime before year 1', datetime, '"0001-01-01T00:30:00+01:00"', 'invalid_value'],
    ['datetime after year 9999', datetime, '"9999-12-31T23:30:00-01:00"', 'invalid_value'],
    ['datetime as number', datetime, '1700000000', 'invalid_value'],
    ['datetime now', datetime, '"now"', 'invalid_value'],
    ['date of year 0', date, '"0000-01-01"', 'invalid_value'],
    ['date of a century', date, '"1900-02-29"', 'invalid_value'],
    ['date of month 13', date, '"2024-13-01"', 'invalid_value'],
    ['date with time', date, '"2024-01-01T00:00:00Z"', 'invalid_value'],
    ['uuid without hyphens', uuid, '"0f8fad5bd9cb469fa16570867728950e"', 'invalid_value'],
    ['uuid in braces', uuid, '"{0f8fad5b-d9cb-469f-a165-70867728950e}"', 'invalid_value'],
    ['bytes without padding', bytes, '"AA"', 'invalid_value'],
    ['bytes with bits left over', bytes, '"AB=="', 'invalid_value'],
    ['bytes in base64url', bytes, '"_-__"', 'invalid_value'],
    ['bytes with a line feed', bytes, '"AAA\\n"', 'invalid_value'],
    ['bytes too long', bytes, quoted(Buffer.alloc(1_000_001).toString('base64')), 'value_too_long'],
    ['null where it may not be', int32, 'null', 'invalid_value'],
    ['an array', int32, '[1]', 'invalid_value'],
    ['an object for text', text, '{}', 'invalid_value'],
  ])('%s', (_name, target, given, code) => {
    expect(refusal(target, given)).toBe(code);
  });
});

test('messages never hold the value', () => {
  const secret = 'do not print me';
  for (const target of [int32, money, float64, name, datetime, date, uuid, bytes, column('bool')]) {
    expect(() => parseValue(target, secret)).toThrow(ApiError);
    expect(() => parseValue(target, secret)).not.toThrow(secret);
  }
});

test('numbers come back as they were written, whatever their digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      expect(roundTrip(int64, String(value))).toBe(String(value));
    }),
    { numRuns: 1000 },
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 34n - 1n }), fc.boolean(), (scaled, isNegative) => {
      const digits = String(scaled).padStart(18, '0');
      const spelled = `${isNegative ? '-' : ''}${digits.slice(0, -17)}.${digits.slice(-17)}`;
      const trimmed = spelled.replace(/\.?0+$/, '');
      expect(roundTrip(wide, spelled)).toBe(trimmed);
      expect(roundTrip(wide, `"${spelled}"`)).toBe(trimmed);
    }),
    { numRuns: 1000 },
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(Number(roundTrip(float64, JSON.stringify(value)))).toBe(value === 0 ? 0 : value);
    }),
  );
});

test('times come back as the instant that they are, cut to milliseconds', () => {
  const offset = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
  const two = (value: number) => String(value).padStart(2, '0');
  const instant = fc.date({
    noInvalidDate: true,
    min: new Date('0001-01-03T00:00:00Z'),
    max: new Date('9999-12-29T00:00:00Z'),
  });
  fc.assert(
    fc.property(instant, offset, fc.nat({ max: 999_999 }), (time, minutes, further) => {
      const local = new Date(time.getTime() + minutes * 60_000).toISOString().slice(0, -1);
      const zone = `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
      expect(roundTrip(datetime, quoted(`${local}${further}${zone}`))).toBe(quoted(time.toISOString()));
    }),
  );
});

test('bytes come back as they were, in a buffer of their own', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (value) => {
      const encoded = quoted(Buffer.from(value).toString('base64'));
      const held = read(bytes, encoded);
      if (!(held instanceof Uint8Array)) throw new Error('no bytes');
      expect(Buffer.compare(held, value)).toBe(0);
      expect(held.buffer.byteLength).toBe(value.length);
      expect(writeValue(bytes, held)).toBe(encoded);
    }),
  );
});

describe('amounts of inc', () => {
  const amount = (target: Column, given: string) =>
    parseAmount(target, parseJson(given, { overflow: 'keep' }), 'inc.c');

  test.each<[string, Column, string, bigint | string | number]>([
    ['beyond the range of the column', int32, '-5e9', -5_000_000_000n],
    ['beyond any result', int64, '1e300', 2n ** 64n],
    ['beyond any result, below', int64, '-36893488147419103232', -(2n ** 64n)],
    ['decimal', money, '"-0.50"', '-0.5'],
    ['decimal beyond the range of the column', money, '1e16', '10000000000000000'],
    ['decimal beyond any result', money, '-1e300', '-100000000000000000'],
    ['float64', float64, '1e-2', 0.01],
  ])('%s', (_name, target, given, expected) => {
    expect(amount(target, given)).toBe(expected);
  });

  test.each<[Column, string]>([
    [int32, '0.5'],
    [int64, '"1"'],
    [money, '0.001'],
    [money, '"x"'],
    [float64, '1e400'],
    [int32, 'null'],
  ])('refused %#', (target, given) => {
    expect(() => amount(target, given)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });
});
