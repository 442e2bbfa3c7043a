import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { converse, readAnswer } from '../support/raw-http.ts';

const MAX_BODY_BYTES = 4000;
const PATH = '/v1/data/find';
const PAYLOAD = { namespace: 'game', table: 'things' };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ config: { limits: { maxBodyBytes: MAX_BODY_BYTES, maxPayloadChars: 2000 } } });
});
afterAll(() => api.stop());

/** Text of a good envelope, so that only what a row changes can be the reason. */
const good = (payload: unknown = PAYLOAD) => JSON.stringify(api.client.envelope(PATH, payload));

async function expectRefusal(answer: Promise<{ status: number; body: string }>, status: number, code: string) {
  const { status: httpStatus, body } = await answer;
  expect(JSON.parse(body)).toMatchObject({ v: 1, ok: false, status, code });
  expect(JSON.parse(body)).not.toHaveProperty('sig');
  expect(httpStatus).toBe(status);
  expect(api.calls).toEqual([]);
}

describe('a content type other than JSON in UTF-8 is 400', () => {
  const types = [
    '',
    'text/plain',
    'application/jsonx',
    'application/json; charset=latin1',
    'application/json; charset=utf-8; x=y',
    'application/json charset=utf-8',
    'multipart/form-data; boundary=x',
    'text/html; charset',
    ';;;',
  ];
  for (const type of types) {
    it(JSON.stringify(type), () =>
      expectRefusal(api.client.raw('POST', PATH, good(), { 'content-type': type }), 400, 'invalid_request'),
    );
  }

  it('none at all', async () => {
    const body = good();
    const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    await expectRefusal(converse(api.address, head + body).closed.then(readAnswer), 400, 'invalid_request');
  });
});

describe('a body that is no JSON object is 400', () => {
  const rows: [string, () => string | Buffer][] = [
    ['empty', () => ''],
    ['a word', () => 'hello'],
    ['cut off', () => good().slice(0, -1)],
    ['an array', () => `[${good()}]`],
    ['a string', () => JSON.stringify(good())],
    ['null', () => 'null'],
    ['two values', () => `${good()}{}`],
    ['a comment', () => `/**/${good()}`],
    ['a trailing comma', () => `${good().slice(0, -1)},}`],
    ['a name twice', () => `${good().slice(0, -1)},"v":1}`],
    ['a name twice, once escaped', () => `${good().slice(0, -1)},"\\u0076":1}`],
    ['__proto__', () => `${good().slice(0, -1)},"__proto__":{}}`],
    ['a number that overflows', () => `${good().slice(0, -1)},"x":1e999}`],
    ['too deep', () => `${good().slice(0, -1)},"x":${'['.repeat(500)}${']'.repeat(500)}}`],
    ['a byte order mark', () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(good())])],
    ['UTF-16', () => Buffer.from(good(), 'utf16le')],
    [
      'a byte that is not UTF-8',
      () => Buffer.concat([Buffer.from(good().slice(0, -1)), Buffer.from(',"x":"\xff"}', 'latin1')]),
    ],
    [
      'a surrogate in UTF-8',
      () =>
        Buffer.concat([
          Buffer.from(`${good().slice(0, -1)},"x":"`),
          Buffer.from([0xed, 0xa0, 0x80]),
          Buffer.from('"}'),
        ]),
    ],
    [
      'an overlong slash',
      () => Buffer.concat([Buffer.from(`${good().slice(0, -1)},"x":"`), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
    ],
  ];
  for (const [what, body] of rows) {
    it(what, () => expectRefusal(api.client.raw('POST', PATH, body(), {}), 400, 'invalid_request'));
  }
});

describe('a body over the limit is 413, whatever else is wrong', () => {
  const long = 'x'.repeat(MAX_BODY_BYTES + 1);

  it('announced', () =>
    expectRefusal(api.client.raw('POST', PATH, long, { 'content-type': 'text/plain' }), 413, 'payload_too_large'));

  it('a hundred times over, with the answer still readable', () =>
    expectRefusal(api.client.raw('POST', PATH, long.repeat(100), {}), 413, 'payload_too_large'));

  it('in chunks without a length', async () => {
    const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const talk = converse(api.address, `${head}${(MAX_BODY_BYTES + 1).toString(16)}\r\n${long}\r\n`);
    const answer = readAnswer(await talk.seen('"}'));
    talk.socket.destroy();
    await expectRefusal(Promise.resolve(answer), 413, 'payload_too_large');
  });

  it('one byte under is not', async () => {
    const envelope = { ...api.client.envelope(PATH, PAYLOAD), padding: '' };
    envelope.padding = 'p'.repeat(MAX_BODY_BYTES - JSON.stringify(envelope).length);
    const answer = await api.client.send(PATH, envelope);
    expect(answer).toMatchObject({ httpStatus: 200, isVerified: true });
    expect(api.calls.splice(0)).toHaveLength(1);
  });
});

describe('what is accepted', () => {
  const types = [
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json ;',
  ];
  for (const type of types) {
    it(type, async () => {
      const answer = await api.client.send(PATH, api.client.envelope(PATH, PAYLOAD), { 'content-type': type });
      expect(answer).toMatchObject({ httpStatus: 200, isVerified: true });
      expect(api.calls.splice(0)).toHaveLength(1);
    });
  }

  it('unknown properties, white space, escapes', async () => {
    const { payload, ...rest } = api.client.envelope(PATH, { ...PAYLOAD, ungewöhnlich: '\u{1f697}é' });
    const text = ` \n{"more": [1, {"a": null}], "payload": ${JSON.stringify(payload).replaceAll('a', '\\u0061')},\t${JSON.stringify(rest).slice(1)} `;
    const answer = await api.client.raw('POST', PATH, text, {});
    expect(api.client.read(answer, String(rest.nonce))).toMatchObject({ httpStatus: 200, isVerified: true });
    expect(api.calls.splice(0)).toMatchObject([{ operation: 'find', payload: PAYLOAD }]);
  });
});

it('bodies under way are bounded together: strangers cannot fill the memory', async () => {
  const head = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${MAX_BODY_BYTES}\r\n\r\n`;
  const open = Array.from({ length: 20 }, () => converse(api.address, head + ' '.repeat(MAX_BODY_BYTES - 1)));
  const refused = readAnswer(await Promise.race(open.map((talk) => talk.seen('"}'))));
  await expectRefusal(Promise.resolve(refused), 503, 'internal_error');
  for (const talk of open) talk.socket.destroy();
  await expect.poll(async () => (await api.client.call('find', PAYLOAD)).httpStatus).toBe(200);
});
