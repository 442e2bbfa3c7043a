import { describe, expect, test } from 'vitest';
import { ApiError } from '#protocol/errors.ts';
import { parseJson } from '#protocol/json.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '#protocol/operations.ts';
import { parsePayload, parsePayloadText, unknownProperties } from '#protocol/payload-reader.ts';
import { countOf, PAYLOADS } from '#protocol/payloads.ts';
import { RESULTS } from '#protocol/results.ts';

const read = (operation: OperationName, text: string) => parsePayload(operation, parsePayloadText(text));

function refusal(operation: OperationName, text: string): string {
  try {
    read(operation, text);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

const of = (more: string) => `{"namespace":"game","table":"t"${more === '' ? '' : `,${more}`}}`;

describe('refusals name the field', () => {
  test.each<[OperationName, string, string]>([
    ['health', '[]', 'invalid_request payload: expected a JSON object'],
    ['health', '', 'invalid_request payload: unexpected end'],
    ['health', '{"a":1,"a":2}', 'invalid_request payload: the property name "a" stands twice at position 7'],
    [
      'health',
      `{"${'b'.repeat(1000)}":1,"${'b'.repeat(1000)}":2}`,
      `invalid_request payload: the property name "${'b'.repeat(64)}…" stands twice at position 1006`,
    ],
    ['health', '{"a":1e999}', 'invalid_request a: a number that no double holds'],
    ['find', '{}', 'invalid_request namespace'],
    ['find', '{"namespace":"game"}', 'invalid_request table'],
    ['find', '{"namespace":null,"table":"t"}', 'invalid_request namespace'],
    ['find', '{"namespace":"Game","table":"t"}', 'invalid_identifier namespace'],
    ['find', '{"namespace":"game","table":"a__b"}', 'invalid_identifier table'],
    ['find', `{"namespace":"${'a'.repeat(25)}","table":"t"}`, 'invalid_identifier namespace'],
    ['schema.describe', '{"namespace":"_a"}', 'invalid_identifier namespace'],
    ['flush', '{"namespace":1}', 'invalid_request namespace'],
    ['find', of('"filter":[]'), 'invalid_filter filter: expected an object'],
    ['find', of('"filter":9007199254740993'), 'invalid_filter filter'],
    ['find', of(`"filter":${'{"not":'.repeat(200)}{}${'}'.repeat(200)}`), 'invalid_filter payload: more than 128'],
    ['find', of('"fields":[]'), 'invalid_request fields: expected at least one column'],
    ['find', of('"fields":["a","b","a"]'), 'invalid_request fields: a column stands twice'],
    ['find', of('"fields":["a",1]'), 'invalid_request fields[1]'],
    ['find', of('"sort":{}'), 'invalid_sort sort: expected an array'],
    ['find', of('"limit":-1'), 'invalid_request limit: expected an integer of 0 or more'],
    ['find', of('"limit":1.5'), 'invalid_request limit'],
    ['find', of('"limit":"1"'), 'invalid_request limit'],
    ['find', of('"offset":-9007199254740993'), 'invalid_request offset'],
    ['find', of('"offset":1e-400'), 'invalid_request offset'],
    ['find', of('"limit":1e400'), 'invalid_request limit'],
    ['find', of('"filter":{"field":"a","op":"eq","value":1e400}'), 'invalid_filter filter.value: a number'],
    ['insert', of('"rows":[]'), 'invalid_request rows: expected at least one row'],
    ['insert', of('"rows":{}'), 'invalid_request rows'],
    ['insert', of('"rows":[{},[]]'), 'invalid_request rows[1]: expected an object'],
    ['insert', of('"rows":[null]'), 'invalid_request rows[0]'],
    ['insert', of(''), 'invalid_request rows'],
    ['insert', of('"rows":[{"a":[1,-1e999]}]'), 'invalid_value rows[0].a[1]: a number'],
    ['insert', of(`"rows":[{"a":${'['.repeat(200)}${']'.repeat(200)}}]`), 'invalid_value payload: more than 128'],
    ['insert', of(`"rows":[{}],"extra":${'['.repeat(200)}${']'.repeat(200)}`), 'invalid_request payload: more than'],
    ['insert', of('"rows":[{}],"durability":"later"'), 'invalid_request durability'],
    ['insert', of('"rows":[{}],"idempotencyKey":""'), 'invalid_request idempotencyKey: expected 1 to 255'],
    ['insert', of(`"rows":[{}],"idempotencyKey":"${'k'.repeat(256)}"`), 'invalid_request idempotencyKey'],
    ['insert', of('"rows":[{}],"idempotencyKey":"\\ud83d"'), 'invalid_request idempotencyKey'],
    ['insert', of('"rows":[{}],"idempotencyKey":5'), 'invalid_request idempotencyKey'],
    ['update', of('"set":[]'), 'invalid_request set: expected an object'],
    ['update', of('"set":null'), 'invalid_request set: expected an object'],
    ['update', of('"all":"yes"'), 'invalid_request all'],
    ['update', of('"set":{"a":1e999}'), 'invalid_value set.a: a number'],
    ['upsert', of('"row":{}'), 'invalid_request keys'],
    ['upsert', of('"row":{},"keys":[]'), 'invalid_request keys'],
    ['upsert', of('"row":[],"keys":["a"]'), 'invalid_request row'],
    ['schema.sync', '{"namespace":"game"}', 'invalid_request schema'],
    ['schema.sync', '{"namespace":"game","schema":[]}', 'invalid_request schema'],
    ['schema.sync', '{"namespace":"game","schema":{},"dryRun":1}', 'invalid_request dryRun'],
  ])('%s %.70s', (operation, text, expected) => {
    expect(refusal(operation, text)).toContain(expected);
  });
});

test('unknown properties are ignored, null is left out, numbers count by value', () => {
  expect(read('find', of('"filter":null,"limit":1e2,"offset":2.0,"colour":"red"'))).toEqual({
    namespace: 'game',
    table: 't',
    limit: 100,
    offset: 2,
  });
  expect(read('update', of('"set":{"a":null},"inc":null,"all":null,"durability":null'))).toMatchObject({
    set: { a: null },
  });
  expect(read('health', '{"anything":[{}]}')).toEqual({});
  const sync = read('schema.sync', '{"namespace":"game","schema":{},"force":1,"dryRun":null,"toString":2}');
  expect(unknownProperties('schema.sync', sync)).toEqual([
    'force: unknown property, ignored',
    'toString: unknown property, ignored',
  ]);
  const many = Array.from({ length: 5000 }, (_, i) => `"${'x'.repeat(500)}${i}":1`);
  const hostile = read('schema.sync', `{"namespace":"game","schema":{},${many.join()}}`);
  expect(unknownProperties('schema.sync', hostile).join('').length).toBeLessThan(15_000);
});

test('a limit of any size is a limit', () => {
  const { limit } = parsePayload('find', parsePayloadText(of('"limit":9007199254740993')));
  expect(countOf(limit ?? 0)).toBe(Number.MAX_SAFE_INTEGER);
  const huge = parsePayload('find', parsePayloadText(of('"limit":1e300')));
  expect(countOf(huge.limit ?? 0)).toBe(Number.MAX_SAFE_INTEGER);
});

test('rows keep their own objects, digits included', () => {
  const payload = parsePayloadText(of('"rows":[{"id":9007199254740993}]'));
  expect(parsePayload('insert', payload).rows[0]?.id).toEqual(parseJson('9007199254740993'));
});

/** The specification's "Endpoints", copied. */
const ENDPOINTS: Record<OperationName, [path: string, retried: boolean, required: string[], optional: string[]]> = {
  health: ['/v1/health', true, [], []],
  'schema.sync': ['/v1/schema/sync', true, ['namespace', 'schema'], ['dryRun']],
  'schema.extend': ['/v1/schema/extend', true, ['namespace', 'part', 'schema'], ['dryRun']],
  'schema.describe': ['/v1/schema/describe', true, ['namespace'], ['part']],
  insert: ['/v1/data/insert', false, ['namespace', 'table', 'rows'], ['durability', 'idempotencyKey']],
  find: ['/v1/data/find', true, ['namespace', 'table'], ['filter', 'fields', 'sort', 'limit', 'offset']],
  update: [
    '/v1/data/update',
    false,
    ['namespace', 'table'],
    ['filter', 'set', 'inc', 'all', 'durability', 'idempotencyKey'],
  ],
  upsert: [
    '/v1/data/upsert',
    false,
    ['namespace', 'table', 'row', 'keys'],
    ['durability', 'idempotencyKey', 'update', 'inc'],
  ],
  delete: ['/v1/data/delete', true, ['namespace', 'table'], ['filter', 'all', 'durability', 'idempotencyKey']],
  batch: ['/v1/data/batch', false, ['namespace', 'operations'], ['atomic', 'durability', 'idempotencyKey']],
  count: ['/v1/data/count', true, ['namespace', 'table'], ['filter']],
  aggregate: [
    '/v1/data/aggregate',
    true,
    ['namespace', 'table'],
    ['filter', 'groupBy', 'values', 'sort', 'limit', 'offset'],
  ],
  flush: ['/v1/data/flush', true, ['namespace'], []],
};

describe('the table of operations is the specification', () => {
  test.each(OPERATION_NAMES)('%s', (operation) => {
    const [path, retried, required, optional] = ENDPOINTS[operation];
    const row = OPERATIONS[operation];
    expect(row).toMatchObject({ path, retry: retried ? 'always' : 'idempotencyKey' });
    expect(row.namespace).toBe(required.includes('namespace'));
    expect(row.isWrite).toBe(optional.includes('idempotencyKey'));
    expect(Object.keys(PAYLOADS[operation].shape).toSorted()).toEqual([...required, ...optional].toSorted());
    for (const name of required) {
      expect(refusal(operation, '{}')).toMatch(/^invalid_request /);
      expect(PAYLOADS[operation].shape).toHaveProperty(name);
    }
  });

  test('every operation of it, with a result and the time limits of contract section 2', () => {
    expect([...OPERATION_NAMES].toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
    expect(Object.keys(RESULTS).toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
    const long = OPERATION_NAMES.filter((name) => OPERATIONS[name].timeoutMs === 120_000);
    expect(long).toEqual(['schema.sync', 'schema.extend', 'flush']);
  });
});
