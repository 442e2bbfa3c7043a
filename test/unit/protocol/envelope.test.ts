import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRequestEnvelope, parseResponseEnvelope, writeResponseEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import { type JsonObject, parseJson } from '#protocol/json.ts';

const good = { v: 1, kid: 'local', ts: 1790000000, nonce: 'n', payload: '{}', sig: 's' };
const body = (more: object) => JSON.stringify({ ...good, ...more });

function refusal(text: string): string {
  try {
    parseRequestEnvelope(text, 1000);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('request', () => {
  test.each<[string, string]>([
    ['', '400 invalid_request envelope: unexpected end'],
    ['[]', '400 invalid_request envelope: expected a JSON object'],
    ['"x"', '400 invalid_request envelope: expected a JSON object'],
    [`\ufeff${body({})}`, '400 invalid_request envelope: unexpected character'],
    [body({}).replace('"v"', '"v":1,"v"'), '400 invalid_request envelope: a property name stands twice'],
    [body({}).replace('"v"', '"__proto__":{},"v"'), '400 invalid_request envelope: the property name __proto__'],
    [body({}).replace('"v"', '"x":1e999,"v"'), '400 invalid_request envelope: a number that no double holds'],
    ['{}', '400 invalid_request envelope: v'],
    [body({ v: 2 }), '400 invalid_request envelope: v'],
    [body({ v: '1' }), '400 invalid_request envelope: v'],
    [body({ v: null }), '400 invalid_request envelope: v'],
    [body({ kid: '' }), '400 invalid_request envelope: kid'],
    [body({ kid: 'a b' }), '400 invalid_request envelope: kid'],
    [body({ kid: 'a\n' }), '400 invalid_request envelope: kid'],
    [body({ kid: 'k'.repeat(65) }), '400 invalid_request envelope: kid'],
    [body({ kid: 5 }), '400 invalid_request envelope: kid'],
    [body({ ts: '1790000000' }), '400 invalid_request envelope: ts'],
    [body({ ts: 1.5 }), '400 invalid_request envelope: ts'],
    [body({}).replace('1790000000', '1790000000.0'), '400 invalid_request envelope: ts'],
    [body({}).replace('1790000000', '179E7'), '400 invalid_request envelope: ts'],
    [body({ nonce: '' }), '400 invalid_request envelope: nonce'],
    [body({ nonce: 'a\n' }), '400 invalid_request envelope: nonce'],
    [body({ nonce: 'a b' }), '400 invalid_request envelope: nonce'],
    [body({ nonce: 'é' }), '400 invalid_request envelope: nonce'],
    [body({ nonce: 'x'.repeat(65) }), '400 invalid_request envelope: nonce'],
    [body({ payload: {} }), '400 invalid_request envelope: payload'],
    [body({ payload: undefined }), '400 invalid_request envelope: payload'],
    [body({ payload: 'a\ud83d' }), '400 invalid_request envelope: payload: expected a well-formed string'],
    [body({ payload: 'x'.repeat(1001) }), '413 payload_too_large payload: expected at most 1000'],
    [body({ payload: '🚗'.repeat(501) }), '413 payload_too_large payload'],
    [body({ sig: undefined }), '400 invalid_request envelope: sig'],
    [body({ sig: null }), '400 invalid_request envelope: sig'],
  ])('refused: %.80s', (text, expected) => {
    expect(refusal(text)).toContain(expected);
  });

  test('shapes that are right, whatever they hold', () => {
    for (const more of [
      { ts: -5 },
      { ts: 0 },
      { extra: [1] },
      { nonce: '!~' },
      { payload: '' },
      { payload: '🚗'.repeat(500) },
    ]) {
      expect(refusal(body(more))).toBe('accepted');
    }
    // By value, as numbers count; only the time is bound to one spelling.
    expect(refusal(body({}).replace('"v":1', '"v":1.0'))).toBe('accepted');
    expect(refusal(body({}).replace('1790000000', '9007199254740993'))).toBe('accepted');
    expect(parseRequestEnvelope(body({ extra: 1 }), 1000)).toEqual(good);
  });

  test('whatever else stands in it, and wherever', () => {
    const more = fc.array(
      fc.tuple(
        fc.string().map((name) => `x${name}`),
        fc.jsonValue(),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(more, fc.boolean(), (others, isLast) => {
        const extra = Object.fromEntries(others);
        const text = JSON.stringify(isLast ? { ...good, ...extra } : { ...extra, ...good }, null, others.length);
        expect(parseRequestEnvelope(text, 1000)).toEqual(good);
      }),
    );
  });

  test('reads nothing that the strict reader refuses, and the same', () => {
    const texts = fc.constantFrom(
      body({ payload: '{"a":"\\n\\u00e9"}', x: [{ y: [1, -2.5e3, true, null, 'z'] }, {}], n: -0.5 }),
      body({ payload: 'é🚗\t\\', more: { a: {}, b: [[]] } }),
    );
    const piece = fc.constantFrom(
      '',
      '"',
      '\\',
      '\\u00e9',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '.',
      'e',
      ' ',
      '\n',
      'a',
    );
    fc.assert(
      fc.property(texts, fc.nat(), fc.integer({ min: 0, max: 2 }), piece, (text, at, cut, put) => {
        const start = at % (text.length + 1);
        const changed = text.slice(0, start) + put + text.slice(start + cut);
        if (refusal(changed) !== 'accepted') return;
        const { v, kid, nonce, payload, sig, ts } = parseJson(changed) as JsonObject;
        expect(parseRequestEnvelope(changed, 1000)).toEqual({ v, kid, ts, nonce, payload, sig });
      }),
      { numRuns: 3000 },
    );
  });

  test('at most 65,536 characters beside the payload, which does not count', () => {
    const rest = body({ payload: '', x: '' }).length;
    const fitting = 'x'.repeat(65_536 - rest);
    const payload = '\t'.repeat(1000);
    expect(refusal(body({ payload, x: fitting }))).toBe('accepted');
    expect(refusal(body({ payload, x: `${fitting}x` }))).toMatch(/^413 payload_too_large envelope: /);
    expect(refusal(body({ payload, x: Array.from({ length: 65_536 }, () => 1) }))).toMatch(/^413/);
    expect(refusal(' '.repeat(65_537))).toMatch(/^413/);
  });

  test('errors hold nothing of the signature or the payload', () => {
    const text = body({ payload: 'the payload', sig: 'the signature', nonce: '' });
    expect(refusal(text)).not.toMatch(/the (payload|signature)/);
  });
});

describe('response', () => {
  test('is read as it was written', () => {
    const answer = { v: 1, ok: false, status: 404, payload: '{"error":{}}', sig: 's', code: 'unknown_table' } as const;
    expect(parseResponseEnvelope(writeResponseEnvelope(answer))).toEqual(answer);
    const { sig: _sig, code: _code, ...bare } = answer;
    expect(parseResponseEnvelope(writeResponseEnvelope(bare))).toEqual(bare);
  });

  test.each([
    '',
    'null',
    '[]',
    '<html>',
    '{"v":1,"ok":true,"status":200}',
    '{"v":2,"ok":true,"status":200,"payload":""}',
    '{"v":1,"ok":"yes","status":200,"payload":""}',
    '{"v":1,"ok":true,"status":"200","payload":""}',
    '{"v":1,"ok":true,"status":200.5,"payload":""}',
    '{"v":1,"ok":true,"status":200,"payload":{}}',
    '{"v":1,"ok":true,"status":200,"payload":"","sig":5}',
    '{"v":1,"ok":true,"status":200,"payload":"","code":5}',
    '{"v":1,"ok":true,"status":200,"payload":"half',
  ])('no envelope: %s', (text) => {
    expect(parseResponseEnvelope(text)).toBeNull();
  });

  const long = JSON.stringify({ rows: [{ text: '"é\\n🚗'.repeat(20_000) }] });

  test.each([
    { v: 1, ok: true, status: 200, payload: long, sig: 's'.repeat(43) },
    { v: 1, ok: true, status: 200, payload: long },
    { v: 1, ok: false, status: 404, code: 'unknown_table', payload: long, sig: '_-aZ' },
  ] as const)('a long one is read as it was written: $code', (answer) => {
    expect(parseResponseEnvelope(writeResponseEnvelope(answer))).toEqual(answer);
  });

  test.each([
    [
      'nested values beside the payload',
      `{"v":1,"ok":true,"status":200,"payload":"","x":[${'[],'.repeat(100_000)}[]]}`,
    ],
    ['a nested payload', `{"v":1,"ok":true,"status":200,"payload":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['a payload that ends early', `{"v":1,"ok":true,"status":200,"payload":"","x":"${'x'.repeat(100_000)}"}`],
    ['an end that is cut off', `{"v":1,"ok":true,"status":200,"payload":"${'x'.repeat(100_000)}`],
  ])('a long text is no envelope with %s', (_, text) => {
    expect(parseResponseEnvelope(text)).toBeNull();
  });
});
