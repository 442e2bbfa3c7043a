import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { declare, itDiffers, outcome, PATIENT, useSidecar } from './data-world.ts';
import { matches, order, type Plain, type PlainFilter, type PlainRow } from './filter-oracle.ts';

const world = useSidecar({ config: PATIENT });
const ROWS = 60;
const RUNS = 250;

/** Few different values, so that filters hit; neighbours in byte order, so that a wrong order shows. */
const WORDS = ['', 'a', 'A', 'a ', 'ab', 'aé', 'b', 'ä', 'z\uffff', '\ud7ff', '\ue000', '🚗', '🚗x', '%', '_', 'a%b'];
const TIMES = [
  '0001-01-01T00:00:00.000Z',
  '1999-12-31T23:59:59.999Z',
  '2024-02-29T12:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
];
const UUIDS = [
  '00000000-0000-4000-8000-000000000000',
  'ffffffff-ffff-4fff-bfff-ffffffffffff',
  '0f8fad5b-d9cb-469f-a165-70867728950e',
];
const INTS = [-2_147_483_648, -2, -1, 0, 1, 2, 3, 2_147_483_647];
const LONGS = [
  '-9223372036854775808',
  '-9007199254740993',
  '-1',
  '0',
  '1',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775807',
];
const MONEYS = ['-10.5', '-0.0001', '0', '0.0001', '0.1', '1', '10.5', '10.4999', '99999999999999.9999'];
const WIDES = ['-123456789012345678901234.5', '-1', '0', '0.0000000001', '1', '123456789012345678901234.0123456789'];
const FLOATS = [-1e300, -0.1, 0, 5e-324, 0.1, 0.30000000000000004, 1e300];

/** How a column's JSON value is read for comparison. */
type Reader = (value: unknown) => Plain;

const scaled: Reader = (value) => {
  const text = String(value);
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const digits = BigInt(whole + fraction.padEnd(12, '0'));
  return text.startsWith('-') ? -digits : digits;
};
const asText: Reader = (value) => String(value);
const asIs: Reader = (value) => value as Plain;

/** Values are JSON text in what is sent, so that no double rounds them. */
interface Kind {
  readonly column: object;
  readonly values: readonly string[];
  readonly read: Reader;
  readonly ops: readonly string[];
  readonly isSortable: boolean;
}

const ORDERED = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'isNull'];
const TEXTUAL = [...ORDERED, 'startsWith', 'contains'];
const quotedTexts = (texts: readonly string[]): string[] => texts.map((text) => JSON.stringify(text));

const KINDS: Readonly<Record<string, Kind>> = {
  i: { column: { type: 'int32' }, values: INTS.map(String), read: asIs, ops: ORDERED, isSortable: true },
  l: { column: { type: 'int64' }, values: LONGS, read: scaled, ops: ORDERED, isSortable: true },
  m: { column: { type: 'decimal' }, values: MONEYS, read: scaled, ops: ORDERED, isSortable: true },
  w: {
    column: { type: 'decimal', precision: 34, scale: 10 },
    values: WIDES,
    read: scaled,
    ops: ORDERED,
    isSortable: true,
  },
  f: {
    column: { type: 'float64' },
    values: FLOATS.map((value) => JSON.stringify(value)),
    read: asIs,
    ops: ORDERED,
    isSortable: true,
  },
  b: {
    column: { type: 'bool' },
    values: ['true', 'false'],
    read: asIs,
    ops: ['eq', 'ne', 'in', 'nin', 'isNull'],
    isSortable: true,
  },
  s: {
    column: { type: 'string', length: 20 },
    values: quotedTexts(WORDS),
    read: asText,
    ops: TEXTUAL,
    isSortable: true,
  },
  t: { column: { type: 'text' }, values: quotedTexts(WORDS), read: asText, ops: TEXTUAL, isSortable: true },
  d: { column: { type: 'datetime' }, values: quotedTexts(TIMES), read: asText, ops: ORDERED, isSortable: true },
  y: {
    column: { type: 'date' },
    values: quotedTexts(TIMES.map((time) => time.slice(0, 10))),
    read: asText,
    ops: ORDERED,
    isSortable: true,
  },
  x: {
    column: { type: 'bytes' },
    values: quotedTexts(['', 'AA==', 'AAA=', '/w==', 'YQ==']),
    read: asText,
    ops: ['eq', 'ne', 'in', 'nin', 'isNull'],
    isSortable: false,
  },
  u: { column: { type: 'uuid' }, values: quotedTexts(UUIDS), read: asText, ops: ORDERED, isSortable: true },
  j: {
    column: { type: 'json' },
    values: ['1', '2.5', '"a"', 'true', '"true"'],
    read: (value) => JSON.stringify(value),
    ops: ['eq', 'ne', 'isNull'],
    isSortable: false,
  },
};
const NAMES = Object.keys(KINDS);
const JSON_NAME = 'j';

/** Columns that the engine can filter. */
const filterable = (): string[] =>
  NAMES.filter((name) => name !== JSON_NAME || world.sidecar.capabilities.filterableJson);

/** JSON text of a value, as the oracle reads it: numbers that a double would change stay text. */
function plain(name: string, text: string): Plain {
  const { read, column } = KINDS[name] as Kind & { column: { type: string } };
  return read(column.type === 'int64' || column.type === 'decimal' ? text : JSON.parse(text));
}

let namespace = '';
const stored: PlainRow[] = [];

beforeAll(async () => {
  const columns = NAMES.map((name) => ({ name, nullable: true, ...KINDS[name]?.column }));
  namespace = await declare(world.client, {
    name: 'things',
    primaryKey: ['id'],
    columns: [{ name: 'id', type: 'int32' }, ...columns],
    indexes: ['i', 's', 'd'].map((name) => ({ name: `by_${name}`, columns: [name] })),
  });
  const random = fc.sample(
    fc.record(
      Object.fromEntries(NAMES.map((name) => [name, fc.option(fc.constantFrom(...(KINDS[name] as Kind).values))])),
    ),
    { numRuns: ROWS, seed: 7 },
  );
  const texts = random.map((row, id) => {
    stored.push({
      id,
      ...Object.fromEntries(NAMES.map((name) => [name, row[name] == null ? null : plain(name, row[name])])),
    });
    return `{"id":${id},${NAMES.map((name) => `"${name}":${row[name] ?? 'null'}`)}}`;
  });
  await world.client.must('insert', `{"namespace":"${namespace}","table":"things","rows":[${texts}]}`);
});

interface Asked {
  /** For the oracle. */
  readonly plain: PlainFilter;
  /** For the API. */
  readonly text: string;
}

const conditionOf = (names: readonly string[]) =>
  fc.constantFrom(...names).chain((name) =>
    fc.constantFrom(...(KINDS[name] as Kind).ops).chain((op) =>
      operandOf(name, op).map(
        (value): Asked => ({
          plain: { field: name, op, value: value.plain },
          text: `{"field":"${name}","op":"${op}","value":${value.text}}`,
        }),
      ),
    ),
  );

function operandOf(name: string, op: string): fc.Arbitrary<{ plain: unknown; text: string }> {
  const { values } = KINDS[name] as Kind;
  const one = fc.constantFrom(...values);
  if (op === 'isNull') return fc.boolean().map((value) => ({ plain: value, text: String(value) }));
  if (op === 'startsWith' || op === 'contains') {
    const words = WORDS.filter((word) => word !== '');
    return fc.constantFrom(...words).map((word) => ({ plain: word, text: JSON.stringify(word) }));
  }
  if (op === 'in' || op === 'nin') {
    const sizes = fc.constantFrom({ maxLength: 5, minLength: 1 }, { maxLength: 60, minLength: 40 });
    return sizes
      .chain((size) => fc.array(one, size))
      .map((list) => ({ plain: list.map((text) => plain(name, text)), text: `[${list}]` }));
  }
  const value = one.map((text) => ({ plain: plain(name, text) as unknown, text }));
  const orNull = op === 'eq' || op === 'ne';
  return orNull ? fc.oneof({ weight: 6, arbitrary: value }, fc.constant({ plain: null, text: 'null' })) : value;
}

const filterOf = (names: readonly string[]): fc.Arbitrary<Asked> =>
  fc.letrec<{ filter: Asked }>((tie) => ({
    filter: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      conditionOf(names),
      fc
        .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('filter'), { minLength: 1, maxLength: 4 }))
        .map(
          ([kind, members]): Asked => ({
            plain:
              kind === 'and'
                ? { and: members.map((member) => member.plain) }
                : { or: members.map((member) => member.plain) },
            text: `{"${kind}":[${members.map((member) => member.text)}]}`,
          }),
        ),
      tie('filter').map((member): Asked => ({ plain: { not: member.plain }, text: `{"not":${member.text}}` })),
    ),
  })).filter;

async function idsOf(query: string): Promise<unknown[]> {
  const found = await world.client.must<{ rows: { id: number }[] }>(
    'find',
    `{"namespace":"${namespace}","table":"things","fields":["id"]${query}}`,
  );
  return found.rows.map((row) => row.id);
}

const idsMatching = (asked: Asked) => stored.filter((row) => matches(asked.plain, row) === true).map((row) => row.id);

const ofJson = conditionOf([JSON_NAME]);

itDiffers('json', () => world.sidecar.capabilities, {
  can: () =>
    fc.assert(
      fc.asyncProperty(ofJson, async (asked) => {
        expect(await idsOf(`,"filter":${asked.text}`)).toEqual(idsMatching(asked));
      }),
      { numRuns: 20 },
    ),
  cannot: () =>
    fc.assert(
      fc.asyncProperty(ofJson, async (asked) => {
        const payload = `{"namespace":"${namespace}","table":"things","filter":${asked.text}}`;
        for (const operation of ['find', 'count', 'delete']) {
          expect(outcome(await world.client.call(operation, payload))).toBe('400 invalid_filter');
        }
        expect(await world.client.must('count', { namespace, table: 'things' })).toEqual({ count: ROWS });
      }),
      { numRuns: 20 },
    ),
});

it('filters agree with their evaluation in plain TypeScript, NULLs included', async () => {
  await fc.assert(
    fc.asyncProperty(filterOf(filterable()), async (asked) => {
      const expected = idsMatching(asked);
      expect(await idsOf(`,"filter":${asked.text}`)).toEqual(expected);
      const counted = await world.client.must(
        'count',
        `{"namespace":"${namespace}","table":"things","filter":${asked.text}}`,
      );
      expect(counted).toEqual({ count: expected.length });
    }),
    { numRuns: RUNS },
  );
});

it('sorting agrees with the order of values, NULL first ascending, the key last', async () => {
  const sortable = NAMES.filter((name) => KINDS[name]?.isSortable);
  const sorts = fc.uniqueArray(
    fc.record({ field: fc.constantFrom(...sortable), dir: fc.constantFrom('asc', 'desc') }),
    {
      selector: (key) => key.field,
      maxLength: 3,
    },
  );
  await fc.assert(
    fc.asyncProperty(sorts, async (keys) => {
      const expected = stored.toSorted((a, b) => {
        for (const { field, dir } of keys) {
          const compared = order(a[field] ?? null, b[field] ?? null);
          if (compared !== 0) return dir === 'asc' ? compared : -compared;
        }
        return Number(a.id) - Number(b.id);
      });
      expect(await idsOf(`,"sort":${JSON.stringify(keys)}`)).toEqual(expected.map((row) => row.id));
    }),
    { numRuns: 60 },
  );
});

it('values that no row can hold match as they would if they could be held', async () => {
  const hits = async (condition: string): Promise<number> => (await idsOf(`,"filter":${condition}`)).length;
  const notNull = (name: string): number => stored.filter((row) => row[name] !== null).length;
  expect(await hits('{"field":"i","op":"eq","value":2147483648}')).toBe(0);
  expect(await hits('{"field":"i","op":"ne","value":0.5}')).toBe(notNull('i'));
  expect(await hits('{"field":"i","op":"lt","value":1e30}')).toBe(notNull('i'));
  expect(await hits('{"field":"l","op":"gt","value":9223372036854775807.5}')).toBe(0);
  expect(await hits('{"not":{"field":"l","op":"gt","value":1e300}}')).toBe(notNull('l'));
  expect(await hits('{"field":"m","op":"gte","value":10.49991}')).toBe(
    stored.filter((row) => row.m !== null && order(row.m ?? null, scaled('10.5')) >= 0).length,
  );
  expect(await hits(`{"field":"s","op":"eq","value":"${'x'.repeat(30)}"}`)).toBe(0);
  expect(await hits(`{"field":"s","op":"nin","value":["${'x'.repeat(30)}"]}`)).toBe(notNull('s'));
});

it('startsWith ends where the prefix ends, at the edges of Unicode too', async () => {
  const space = await declare(world.client, { name: 'words', columns: [{ name: 'word', type: 'string' }] });
  const words = [
    '\ud7ff',
    '\ud7ffx',
    '\ue000',
    '\uffff',
    '\u{10000}',
    '\u{10ffff}',
    '\u{10ffff}\u{10ffff}a',
    'a',
    'aa',
    'b',
  ];
  await world.client.must('insert', { namespace: space, table: 'words', rows: words.map((word) => ({ word })) });
  for (const prefix of ['\ud7ff', '\uffff', '\u{10ffff}', '\u{10ffff}\u{10ffff}', 'a\u{10ffff}', 'a']) {
    const filter = { field: 'word', op: 'startsWith', value: prefix };
    const { rows } = await world.client.must<{ rows: { word: string }[] }>('find', {
      namespace: space,
      table: 'words',
      filter,
    });
    expect(rows.map((row) => row.word)).toEqual(words.filter((word) => word.startsWith(prefix)));
  }
});
