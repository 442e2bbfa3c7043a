import { describe, expect, it } from 'vitest';
import { declare, outcome, useSidecar } from './data-world.ts';

const world = useSidecar();

/** Column, then pairs of JSON text sent and JSON text returned (contract section 4). */
const EXACT: readonly [column: object, pairs: readonly (readonly [string, string])[]][] = [
  [
    { type: 'int32' },
    [
      ['-2147483648', '-2147483648'],
      ['2147483647', '2147483647'],
      ['1.0', '1'],
      ['1e2', '100'],
      ['-0', '0'],
    ],
  ],
  [
    { type: 'int64' },
    [
      ['9223372036854775807', '9223372036854775807'],
      ['-9223372036854775808', '-9223372036854775808'],
      ['9007199254740993', '9007199254740993'],
      ['9007199254740993.000', '9007199254740993'],
      ['9.007199254740993e15', '9007199254740993'],
    ],
  ],
  [
    { type: 'decimal' },
    [
      ['12.5000', '12.5'],
      ['"-0.0001"', '-0.0001'],
      ['99999999999999.9999', '99999999999999.9999'],
      ['-0.0', '0'],
      ['1e3', '1000'],
    ],
  ],
  [
    { type: 'decimal', precision: 18, scale: 18 },
    [
      ['0.999999999999999999', '0.999999999999999999'],
      ['-0.000000000000000001', '-0.000000000000000001'],
    ],
  ],
  [
    { type: 'decimal', precision: 34, scale: 10 },
    [
      ['123456789012345678901234.0123456789', '123456789012345678901234.0123456789'],
      ['-999999999999999999999999.9999999999', '-999999999999999999999999.9999999999'],
      ['"0.0000000001"', '0.0000000001'],
      ['-1', '-1'],
    ],
  ],
  [
    { type: 'decimal', precision: 34, scale: 0 },
    [['9999999999999999999999999999999999', '9999999999999999999999999999999999']],
  ],
  [
    { type: 'float64' },
    [
      ['0.1', '0.1'],
      ['-0', '0'],
      ['5e-324', '5e-324'],
      ['1.7976931348623157e308', '1.7976931348623157e+308'],
      ['100', '100'],
      ['0.1000000000000000055511151231257827', '0.1'],
    ],
  ],
  [
    { type: 'bool' },
    [
      ['true', 'true'],
      ['false', 'false'],
    ],
  ],
  [
    { type: 'string', length: 8 },
    [
      ['"Zoë 🚗 \'x"', '"Zoë 🚗 \'x"'],
      ['"  "', '"  "'],
      ['"\\u0001\\"\\\\"', '"\\u0001\\"\\\\"'],
      ['"🚗🚗🚗🚗🚗🚗🚗🚗"', '"🚗🚗🚗🚗🚗🚗🚗🚗"'],
    ],
  ],
  [
    { type: 'text' },
    [
      [JSON.stringify('ä'.repeat(50_000)), JSON.stringify('ä'.repeat(50_000))],
      ['""', '""'],
    ],
  ],
  [
    { type: 'json' },
    [
      ['{"b": [1, 2.50]}', '{"b":[1,2.5]}'],
      [
        '[9007199254740993,0.10000000000000000000001,true,"x"]',
        '[9007199254740993,0.10000000000000000000001,true,"x"]',
      ],
      ['"text"', '"text"'],
      ['0', '0'],
      ['{"z":1,"a":{"constructor":2}}', '{"z":1,"a":{"constructor":2}}'],
    ],
  ],
  [
    { type: 'datetime' },
    [
      ['"2024-02-29T23:59:59"', '"2024-02-29T23:59:59.000Z"'],
      ['"2024-01-01T00:30:00.1239+01:00"', '"2023-12-31T23:30:00.123Z"'],
      ['"0001-01-01T00:00:00Z"', '"0001-01-01T00:00:00.000Z"'],
      ['"9999-12-31T23:59:59.999Z"', '"9999-12-31T23:59:59.999Z"'],
    ],
  ],
  [
    { type: 'date' },
    [
      ['"0001-01-01"', '"0001-01-01"'],
      ['"2000-02-29"', '"2000-02-29"'],
    ],
  ],
  [{ type: 'uuid' }, [['"0F8FAD5B-D9CB-469F-A165-70867728950E"', '"0f8fad5b-d9cb-469f-a165-70867728950e"']]],
  [
    { type: 'bytes' },
    [
      ['"AP8B"', '"AP8B"'],
      ['""', '""'],
    ],
  ],
];

describe('values come back exactly', () => {
  it.each(EXACT)('%j', async (column, pairs) => {
    const namespace = await declare(world.client, {
      name: 'kept',
      columns: [{ name: 'value', nullable: true, ...column }],
    });
    const rows = [...pairs.map(([sent]) => `{"value":${sent}}`), '{"value":null}', '{}'];
    const inserted = await world.client.call('insert', `{"namespace":"${namespace}","table":"kept","rows":[${rows}]}`);
    expect(outcome(inserted)).toBe('200');
    const found = await world.client.call('find', { namespace, table: 'kept' });
    const expected = [...pairs.map(([, returned]) => `{"value":${returned}}`), '{"value":null}', '{"value":null}'];
    expect(found.text).toBe(`{"rows":[${expected}],"hasMore":false}`);
  });
});

/** Column, JSON text sent, code. */
const REFUSED: readonly (readonly [column: object, sent: string, code: string])[] = [
  [{ type: 'int32' }, '2147483648', 'invalid_value'],
  [{ type: 'int32' }, '1.5', 'invalid_value'],
  [{ type: 'int32' }, '"1"', 'invalid_value'],
  [{ type: 'int64' }, '9223372036854775808', 'invalid_value'],
  [{ type: 'decimal' }, '0.00001', 'invalid_value'],
  [{ type: 'decimal' }, '100000000000000', 'invalid_value'],
  [{ type: 'decimal' }, '"1e3"', 'invalid_value'],
  [{ type: 'float64' }, '1e999', 'invalid_value'],
  [{ type: 'bool' }, '1', 'invalid_value'],
  [{ type: 'string', length: 2 }, '"abc"', 'value_too_long'],
  [{ type: 'string' }, '"a\\u0000b"', 'invalid_value'],
  [{ type: 'text' }, '"\\ud800"', 'invalid_value'],
  [{ type: 'datetime' }, '"2023-02-29T00:00:00Z"', 'invalid_value'],
  [{ type: 'datetime' }, '"2024-01-01"', 'invalid_value'],
  [{ type: 'date' }, '"2024-13-01"', 'invalid_value'],
  [{ type: 'uuid' }, '"0f8fad5bd9cb469fa16570867728950e"', 'invalid_value'],
  [{ type: 'bytes' }, '"AP8"', 'invalid_value'],
  [{ type: 'string' }, 'null', 'invalid_value'],
];

describe('what a column cannot hold is refused and nothing is written', () => {
  it.each(REFUSED)('%j %s: %s', async (column, sent, code) => {
    const namespace = await declare(world.client, {
      name: 'kept',
      columns: [
        { name: 'value', ...column },
        { name: 'n', type: 'int32', nullable: true },
      ],
    });
    const payload = `{"namespace":"${namespace}","table":"kept","rows":[{"value":${sent}}]}`;
    expect(outcome(await world.client.call('insert', payload))).toBe(`400 ${code}`);
    expect(await world.client.must('count', { namespace, table: 'kept' })).toEqual({ count: 0 });
  });
});

it('decimal has all its digits after the point, or the schema is refused by a database that keeps fewer', async () => {
  const { maxDecimalScale } = world.sidecar.capabilities;
  const tableOf = (scale: number) => ({
    name: 'fractions',
    primaryKey: ['id'],
    columns: [
      { name: 'id', type: 'int32' },
      { name: 'part', type: 'decimal', precision: 34, scale },
    ],
  });
  const namespace = await declare(world.client, tableOf(maxDecimalScale));
  const part = `0.${'1234567890'.repeat(4).slice(0, maxDecimalScale - 1)}7`;
  const rows = `"rows":[{"id":1,"part":"${part}"}]`;
  await world.client.must('insert', `{"namespace":"${namespace}","table":"fractions",${rows}}`);
  const { text } = await world.client.call('find', { namespace, table: 'fractions', fields: ['part'] });
  expect(text).toContain(part);
  for (let scale = maxDecimalScale + 1; scale <= 34; scale += 1) {
    const answer = await world.client.call('schema.sync', { namespace, schema: { tables: [tableOf(scale)] } });
    expect(outcome(answer)).toBe('400 invalid_schema');
    expect(answer.message).toContain('scale of fractions.part: expected at most 30');
  }
});
