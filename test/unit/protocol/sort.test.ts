import { expect, test } from 'vitest';
import { ApiError } from '#protocol/errors.ts';
import { parseJson } from '#protocol/json.ts';
import { parseSchema } from '#protocol/schema.ts';
import { parseSort } from '#protocol/sort.ts';

const [table] = parseSchema(
  parseJson(
    '{"tables":[{"name":"t","columns":[{"name":"a","type":"int32"},{"name":"b","type":"bytes"},{"name":"j","type":"json"}]}]}',
  ),
).schema.tables;

function read(text: string): unknown {
  if (table === undefined) throw new Error('no table');
  try {
    return parseSort(parseJson(text), table);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const LONG = ['a', 'b', 'c', 'd', 'e'];
const [wide] = parseSchema(
  parseJson(
    JSON.stringify({
      tables: [{ name: 'w', columns: LONG.map((name, i) => ({ name, type: i % 2 === 0 ? 'text' : 'bytes' })) }],
    }),
  ),
).schema.tables;

test('at most four columns of type text and bytes', () => {
  if (wide === undefined) throw new Error('no table');
  const keys = LONG.map((field) => ({ field }));
  const sort = (count: number) => parseSort(parseJson(JSON.stringify(keys.slice(0, count))), wide);
  expect(sort(4).map(({ column }) => column)).toEqual(['a', 'b', 'c', 'd']);
  expect(() => sort(5)).toThrow('sort[4].field: more than 4 columns of type text and bytes');
});

test.each<[string, unknown]>([
  ['[]', []],
  ['[{"field":"a"}]', [{ column: 'a', dir: 'asc' }]],
  [
    '[{"field":"b","dir":"desc"},{"field":"a","dir":null}]',
    [
      { column: 'b', dir: 'desc' },
      { column: 'a', dir: 'asc' },
    ],
  ],
  ['[{"field":"a","nulls":"last"}]', [{ column: 'a', dir: 'asc' }]],
  ['{}', 'invalid_sort sort: expected an array, got an object'],
  ['["a"]', 'invalid_sort sort[0]: expected an object, got a string'],
  ['[{}]', 'invalid_sort sort[0].field: expected a column, got nothing'],
  ['[{"field":"a","dir":"up"}]', 'invalid_sort sort[0].dir: expected asc or desc'],
  ['[{"field":"a"},{"field":"a","dir":"desc"}]', 'invalid_sort sort[1].field: a stands twice'],
  ['[{"field":"j"}]', 'invalid_sort sort[0].field: a column of type json cannot be sorted'],
  ['[{"field":"x"}]', 'unknown_column sort[0].field: unknown column "x"'],
])('%s', (text, expected) => {
  expect(read(text)).toEqual(expected);
});
