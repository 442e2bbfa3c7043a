import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '#protocol/errors.ts';
import { type HandledCall, startTestApi, type TestApi } from '../support/api.ts';
import { keyOf } from '../support/config-folder.ts';

let api: TestApi;
let handle: (call: HandledCall) => Promise<string>;
beforeAll(async () => {
  const keys = [
    keyOf('local'),
    keyOf('reader', { operations: ['find', 'count'], namespaces: ['game'], allowUnfilteredWrites: false }),
    keyOf('nothing', { operations: [], namespaces: [] }),
  ];
  api = await startTestApi({ config: { keys }, handle: (call) => handle(call) });
});
beforeEach(() => {
  handle = async () => '{"done":true}';
  api.calls.length = 0;
});
afterAll(() => api.stop());

describe('refused, signed, and before anything is looked up', () => {
  const rows: [string, string, string, unknown, number, string][] = [
    [
      'an operation that the key may not use',
      'reader',
      'insert',
      { namespace: 'game', table: 't', rows: [{}] },
      403,
      'forbidden',
    ],
    ['a namespace that it may not use', 'reader', 'find', { namespace: 'stats', table: 't' }, 403, 'forbidden'],
    ['health without its permission', 'nothing', 'health', {}, 403, 'forbidden'],
    ['flush without its permission', 'reader', 'flush', { namespace: 'game' }, 403, 'forbidden'],
    [
      'a payload that does not fit comes before the permission',
      'nothing',
      'find',
      { namespace: 'game' },
      400,
      'invalid_request',
    ],
    ['a name that is not allowed too', 'nothing', 'find', { namespace: 'Game', table: 't' }, 400, 'invalid_identifier'],
    ['payload not JSON', 'local', 'find', '{', 400, 'invalid_request'],
    ['payload an array', 'local', 'health', '[]', 400, 'invalid_request'],
    ['payload with a name twice', 'local', 'health', '{"a":1,"a":1}', 400, 'invalid_request'],
    ['payload with __proto__', 'local', 'health', '{"__proto__":1}', 400, 'invalid_request'],
    ['payload with a number that overflows', 'local', 'health', '{"a":1e400}', 400, 'invalid_request'],
    [
      'the same in rows',
      'local',
      'insert',
      '{"namespace":"game","table":"t","rows":[{"a":1e400}]}',
      400,
      'invalid_value',
    ],
    [
      'the same in a filter',
      'local',
      'find',
      '{"namespace":"game","table":"t","filter":{"field":"a","op":"eq","value":1e400}}',
      400,
      'invalid_filter',
    ],
  ];
  for (const [what, kid, operation, payload, status, code] of rows) {
    it(what, async () => {
      const answer = await api.clientOf(kid).call(operation, payload);
      expect(answer).toMatchObject({ httpStatus: status, status, code, isVerified: true, ok: false });
      expect(answer.envelope.code).toBe(code);
      expect(api.calls).toEqual([]);
    });
  }
});

describe('what a handler gets', () => {
  it('the payload, and who calls', async () => {
    const answer = await api.clientOf('reader').call('find', { namespace: 'game', table: 't', limit: null, new: 1 });
    expect(answer).toMatchObject({ httpStatus: 200, isVerified: true, text: '{"done":true}' });
    expect(api.calls).toMatchObject([
      {
        operation: 'find',
        payload: { namespace: 'game', table: 't' },
        context: { kid: 'reader', allowUnfilteredWrites: false },
      },
    ]);
  });

  it('its result reaches the caller digit for digit', async () => {
    const result = '{"rows":[{"id":9007199254740993,"money":0.10000000000000000001,"name":"\\u0000é\u{1f697}"}]}';
    handle = async () => result;
    expect(await api.client.call('find', { namespace: 'game', table: 't' })).toMatchObject({
      text: result,
      isVerified: true,
    });
  });
});

describe('what a handler throws', () => {
  it('an error of the table is that error, signed', async () => {
    handle = async () => {
      throw new ApiError('constraint_violation', 'twice');
    };
    const answer = await api.client.call('find', { namespace: 'game', table: 't' });
    expect(answer).toMatchObject({ httpStatus: 409, code: 'constraint_violation', message: 'twice', isVerified: true });
  });

  it('anything else is internal_error, and its text reaches neither the caller nor the log', async () => {
    handle = async () => {
      throw new TypeError('holds the value hunter2');
    };
    const answer = await api.client.call('find', { namespace: 'game', table: 't' });
    expect(answer).toMatchObject({ httpStatus: 500, code: 'internal_error', isVerified: true });
    expect(answer.body + api.log.join('\n')).not.toContain('hunter2');
    expect(api.log.join('\n')).toMatch(/"msg":"internal error".*TypeError/);
  });
});
