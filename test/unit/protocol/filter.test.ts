import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Column } from '#protocol/columns.ts';
import { ApiError } from '#protocol/errors.ts';
import { type Filter, parseFilter } from '#protocol/filter.ts';
import { parseJson } from '#protocol/json.ts';
import type { Table } from '#protocol/schema.ts';
import { parseSchema } from '#protocol/schema.ts';
import { parseValue } from '#protocol/values.ts';
import { compareNumberTexts, compareTexts, evaluate, isMet, type Truth } from './filter-oracle.ts';

const DECLARED = {
  tables: [
    {
      name: 'things',
      columns: [
        { name: 'small', type: 'int32', nullable: true },
        { name: 'big', type: 'int64', nullable: true },
        { name: 'price', type: 'decimal', precision: 6, scale: 2, nullable: true },
        { name: 'huge', type: 'decimal', precision: 34, scale: 10, nullable: true },
        { name: 'ratio', type: 'float64', nullable: true },
        { name: 'flag', type: 'bool', nullable: true },
        { name: 'name', type: 'string', length: 5, nullable: true },
        { name: 'notes', type: 'text', nullable: true },
        { name: 'extra', type: 'json', nullable: true },
        { name: 'at', type: 'datetime', nullable: true },
        { name: 'day', type: 'date', nullable: true },
        { name: 'ref', type: 'uuid', nullable: true },
        { name: 'raw', type: 'bytes', nullable: true },
      ],
    },
  ],
};

const things = tableOf(JSON.stringify(DECLARED));

function tableOf(text: string): Table {
  const [table] = parseSchema(parseJson(text)).schema.tables;
  if (table === undefined) throw new Error('no table');
  return table;
}

function columnOf(name: string): Column {
  const column = things.columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw new Error(`no column ${name}`);
  return column;
}

function read(text: string): Filter {
  return parseFilter(parseJson(text, { overflow: 'keep' }), things);
}

function refusal(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

/** Result of a condition on a row whose column holds `held`, both as JSON text. */
function matches(field: string, op: string, value: string, held: string): Truth {
  const filter = read(`{"field":"${field}","op":"${op}","value":${value}}`);
  return evaluate(filter, new Map([[field, parseValue(columnOf(field), parseJson(held))]]));
}

const COMPARISONS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const;
const comparison = fc.constantFrom(...COMPARISONS);

const wildNumber = fc.oneof(
  fc.integer({ min: -12, max: 12 }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String),
  fc
    .tuple(fc.bigInt({ min: -(10n ** 7n), max: 10n ** 7n }), fc.integer({ min: -12, max: 12 }))
    .map(([m, e]) => `${m}e${e}`),
  fc.constantFrom('9999.99', '9999.991', '-9999.99', '-9999.999', '10000', '0.001', '-0.001', '1e-400', '1e300'),
  fc.constantFrom('2147483647', '2147483647.5', '2147483648', '-2147483648', '-2147483648.5', '-2147483649'),
  fc.constantFrom('9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809'),
);

const heldNumbers = {
  small: fc
    .oneof(fc.integer(), fc.integer({ min: -12, max: 12 }), fc.constantFrom(2147483647, -2147483648))
    .map(String),
  big: fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -12n, max: 12n })).map(String),
  price: fc.oneof(fc.integer({ min: -999999, max: 999999 }), fc.integer({ min: -300, max: 300 })).map((n) => `${n}e-2`),
  huge: fc.bigInt({ min: -(10n ** 34n - 1n), max: 10n ** 34n - 1n }).map((n) => `${n}e-10`),
} as const;

describe('values that no row can hold match as if they could be held', () => {
  test.each(['small', 'big', 'price', 'huge'] as const)('numbers: %s', (field) => {
    fc.assert(
      fc.property(comparison, wildNumber, heldNumbers[field], (op, value, held) => {
        expect(matches(field, op, value, held)).toBe(isMet(op, compareNumberTexts(held, value)));
        // Right at the value itself, as far as it can be held.
        if (compareNumberTexts(held, held) === 0) expect(matches(field, op, held, held)).toBe(isMet(op, 0));
      }),
      { numRuns: 1500 },
    );
  });

  test('numbers as text, for decimals', () => {
    expect(matches('price', 'gt', '"1.234"', '1.24')).toBe(true);
    expect(matches('price', 'gt', '"1.234"', '1.23')).toBe(false);
    expect(matches('price', 'gte', '"1.234"', '1.23')).toBe(false);
    expect(matches('price', 'lt', '"1.234"', '1.23')).toBe(true);
    expect(matches('price', 'eq', '"001.50"', '1.5')).toBe(true);
    expect(matches('price', 'lt', `"${'9'.repeat(5000)}"`, '9999.99')).toBe(true);
  });

  const text = fc.string({
    unit: fc.constantFrom('a', 'b', ' ', 'é', '\uE000', '\uFFFF', '🚗', '\0', '\ud83d'),
    maxLength: 8,
  });
  const heldText = fc.string({
    unit: fc.constantFrom('a', 'b', ' ', 'é', '\u0001', '\ud7ff', '\uE000', '\uFFFF', '🚗'),
    maxLength: 5,
  });

  test.each(['name', 'notes'])('text: %s', (field) => {
    fc.assert(
      fc.property(comparison, text, heldText, fc.nat({ max: 5 }), (op, tail, held, take) => {
        // Often with a common beginning, where the places between what can be held are.
        const value = held.slice(0, take) + tail;
        const expected = isMet(op, compareTexts(held, value));
        expect(matches(field, op, JSON.stringify(value), JSON.stringify(held))).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['at', '"0001-01-01T00:00:00+01:00"', '"0001-01-01T00:00:00Z"', -1],
    ['at', '"9999-12-31T23:59:59.999-00:01"', '"9999-12-31T23:59:59.999Z"', 1],
    ['at', '"2024-05-01T12:00:00.1239Z"', '"2024-05-01T12:00:00.123Z"', 0],
    ['at', '"2024-05-01T12:00:00+02:00"', '"2024-05-01T10:00:00"', 0],
    ['day', '"0000-12-31"', '"0001-01-01"', -1],
    ['ref', '"0F8FAD5B-D9CB-469F-A165-70867728950E"', '"0f8fad5b-d9cb-469f-a165-70867728950e"', 0],
    ['ratio', '0.1000000000000000000000000001', '0.1', 0],
    ['ratio', '1e-400', '0', 0],
  ])('%s %s against %s', (field, value, held, order) => {
    for (const op of COMPARISONS) expect(matches(field, op, value, held)).toBe(isMet(op, -order));
  });

  test('in and nin leave out what no row can hold', () => {
    expect(matches('small', 'in', '[1.5,5000000000,2]', '2')).toBe(true);
    expect(matches('small', 'in', '[1.5,5000000000]', '1')).toBe(false);
    expect(matches('small', 'nin', '[1.5,5000000000]', '1')).toBe(true);
    expect(matches('small', 'nin', '[1.5]', 'null')).toBe(null);
    expect(matches('name', 'in', '["much too long"]', '"much"')).toBe(false);
    expect(matches('name', 'startsWith', '"much too long"', '"much"')).toBe(false);
    expect(matches('raw', 'ne', `"${'AAAA'.repeat(333_334)}"`, '"AA=="')).toBe(true);
    expect(matches('extra', 'eq', '"\\u0000"', '""')).toBe(false);
    expect(matches('extra', 'eq', '1e-400', '0')).toBe(false);
  });

  test.each(things.columns.map((column) => column.name))('NULL is unknown to every comparison: %s', (field) => {
    const sample: Record<string, string> = { flag: 'true', name: '"a"', notes: '"a"', extra: '1', raw: '"AA=="' };
    const times: Record<string, string> = { at: '"2024-01-01T00:00:00Z"', day: '"2024-01-01"' };
    const value = sample[field] ?? times[field] ?? (field === 'ref' ? '"0f8fad5b-d9cb-469f-a165-70867728950e"' : '1');
    for (const op of ['eq', 'ne']) expect(matches(field, op, value, 'null')).toBe(null);
    expect(matches(field, 'isNull', 'true', 'null')).toBe(true);
    expect(matches(field, 'isNull', 'false', 'null')).toBe(false);
    expect(matches(field, 'eq', 'null', 'null')).toBe(true);
    expect(matches(field, 'ne', 'null', 'null')).toBe(false);
    expect(matches(field, 'ne', 'null', value)).toBe(true);
  });
});

test('json is equal by value', () => {
  expect(matches('extra', 'eq', '1.0', '1')).toBe(true);
  expect(matches('extra', 'eq', '9007199254740993', '9007199254740993.0')).toBe(true);
  expect(matches('extra', 'ne', '9007199254740993', '9007199254740992')).toBe(true);
  expect(matches('extra', 'eq', '"1"', '1')).toBe(false);
  expect(matches('extra', 'eq', '"\\u0061"', '"a"')).toBe(true);
});

test('groups are three-valued', () => {
  const unknown = '{"field":"small","op":"eq","value":1}';
  const [yes, no] = ['{"field":"big","op":"eq","value":1}', '{"field":"big","op":"ne","value":1}'];
  const row = new Map([
    ['small', null],
    ['big', 1n],
  ]);
  const cases: [string, Truth][] = [
    [`{"not":${unknown}}`, null],
    [`{"and":[${unknown},${yes}]}`, null],
    [`{"and":[${unknown},${no}]}`, false],
    [`{"or":[${unknown},${yes}]}`, true],
    [`{"or":[${unknown},${no}]}`, null],
    [`{"not":{"or":[{"not":${no}},{"not":${unknown}}]}}`, false],
    [`{"field":"small","op":"isNull"}`, true],
  ];
  for (const [text, truth] of cases) expect(evaluate(read(text), row)).toBe(truth);
});

describe('refusals name their place', () => {
  const nest = (levels: number) => `${'{"not":'.repeat(levels)}{"field":"small","op":"isNull"}${'}'.repeat(levels)}`;
  const many = (count: number) => `{"and":[${Array(count).fill('{"field":"small","op":"isNull"}').join(',')}]}`;
  const list = (count: number) => `{"field":"small","op":"in","value":[${Array(count).fill('1').join(',')}]}`;

  test.each([
    ['[]', 'invalid_filter filter: expected an object'],
    ['{}', 'invalid_filter filter.field: expected a column'],
    ['5', 'invalid_filter filter: expected an object'],
    ['{"and":[]}', 'invalid_filter filter.and: expected at least one filter'],
    ['{"and":{}}', 'invalid_filter filter.and: expected an array'],
    ['{"and":null}', 'invalid_filter filter.field'],
    ['{"not":[]}', 'invalid_filter filter.not: expected an object'],
    ['{"or":[{"field":"small","op":"isNull"},{}]}', 'invalid_filter filter.or[1].field'],
    ['{"or":[{"field":"small","op":"isNull"}],"not":{}}', 'invalid_filter filter: expected either'],
    ['{"or":[{"field":"small","op":"isNull"}],"field":"small"}', 'invalid_filter filter: expected either'],
    ['{"field":"nothing","op":"isNull"}', 'unknown_column filter.field'],
    ['{"field":"constructor","op":"isNull"}', 'unknown_column filter.field'],
    ['{"field":"small","op":"like","value":1}', 'invalid_filter filter.op'],
    ['{"field":"small"}', 'invalid_filter filter.op'],
    ['{"field":"small","op":"eq"}', 'invalid_filter filter.value: expected a value'],
    ['{"field":"small","op":"gt","value":null}', 'invalid_filter filter.value: gt takes no null'],
    ['{"field":"small","op":"isNull","value":null}', 'invalid_filter filter.value'],
    ['{"field":"small","op":"isNull","value":1}', 'invalid_filter filter.value'],
    ['{"field":"small","op":"eq","value":"1"}', 'invalid_filter filter.value: expected a number'],
    ['{"field":"small","op":"eq","value":[1]}', 'invalid_filter filter.value'],
    ['{"field":"small","op":"eq","value":true}', 'invalid_filter filter.value'],
    ['{"field":"small","op":"eq","value":1e400}', 'invalid_filter filter.value'],
    ['{"field":"ratio","op":"eq","value":1e400}', 'invalid_filter filter.value'],
    ['{"field":"small","op":"startsWith","value":"1"}', 'invalid_filter filter.op'],
    ['{"field":"flag","op":"gt","value":true}', 'invalid_filter filter.op'],
    ['{"field":"flag","op":"eq","value":1}', 'invalid_filter filter.value'],
    ['{"field":"raw","op":"lt","value":"AA=="}', 'invalid_filter filter.op'],
    ['{"field":"raw","op":"eq","value":"AB=="}', 'invalid_filter filter.value'],
    ['{"field":"extra","op":"in","value":[1]}', 'invalid_filter filter.op'],
    ['{"field":"extra","op":"eq","value":{}}', 'invalid_filter filter.value'],
    ['{"field":"extra","op":"eq","value":[1]}', 'invalid_filter filter.value'],
    ['{"field":"price","op":"eq","value":"1,5"}', 'invalid_filter filter.value'],
    ['{"field":"price","op":"eq","value":"1e2"}', 'invalid_filter filter.value'],
    ['{"field":"at","op":"eq","value":"2023-02-29T00:00:00Z"}', 'invalid_filter filter.value'],
    ['{"field":"day","op":"eq","value":"2024-1-1"}', 'invalid_filter filter.value'],
    ['{"field":"ref","op":"eq","value":"0f8fad5bd9cb469fa16570867728950e"}', 'invalid_filter filter.value'],
    ['{"field":"name","op":"contains","value":""}', 'invalid_filter filter.value'],
    ['{"field":"name","op":"contains"}', 'invalid_filter filter.value'],
    ['{"field":"name","op":"eq","value":5}', 'invalid_filter filter.value'],
    ['{"field":"small","op":"in","value":[]}', 'invalid_filter filter.value: expected 1 to 1000 values, got 0'],
    ['{"field":"small","op":"in","value":1}', 'invalid_filter filter.value: expected an array'],
    ['{"field":"small","op":"nin","value":[1,null]}', 'invalid_filter filter.value[1]'],
    ['{"field":"small","op":"in","value":[1,"2"]}', 'invalid_filter filter.value[1]'],
    [list(1001), 'invalid_filter filter.value: expected 1 to 1000 values, got 1001'],
    [nest(8), 'invalid_filter filter.not.not.not.not.not.not.not.not: more than 8 levels'],
    [many(129), 'invalid_filter filter.and[128]: more than 128 conditions'],
  ])('%.90s', (text, expected) => {
    expect(refusal(text)).toContain(expected);
  });

  test('the limits themselves are allowed', () => {
    for (const text of [nest(7), many(128), list(1000)]) expect(refusal(text)).toBe('accepted');
  });

  test('whatever JSON is given, a filter or a refusal comes back', () => {
    const anything = fc.letrec<{ filter: unknown }>((tie) => ({
      filter: fc.oneof(
        fc.record(
          {
            field: fc.constantFrom(...things.columns.map((column) => column.name), 'none', 5),
            op: fc.constantFrom(...COMPARISONS, 'in', 'nin', 'isNull', 'startsWith', 'contains', 'x'),
            value: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
        fc.record({ and: fc.array(tie('filter'), { maxLength: 3 }) }),
        fc.record({ not: tie('filter') }),
        fc.jsonValue(),
      ),
    })).filter;
    fc.assert(
      fc.property(anything, (json) => {
        const text = JSON.stringify(json);
        if (text.includes('__proto__')) return;
        expect(refusal(text)).toMatch(/^(accepted|(invalid_filter|unknown_column) filter\S*: .+)$/);
      }),
    );
  });
});
