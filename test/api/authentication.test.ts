import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { keyOf, secretOf } from '../support/config-folder.ts';
import { type Answer, type Envelope, hmac } from '../support/signed-client.ts';
import { testFolder } from '../support/test-folder.ts';

const PATH = '/v1/data/find';
const PAYLOAD = { namespace: 'game', table: 'things' };
const SKEW = 60;
const OLD_SECRET = 'the-secret-from-before-the-rotation-of-today';

const folder = testFolder();
let nowMs = 1_790_000_000_000;
let api: TestApi;

beforeAll(async () => {
  writeFileSync(join(folder, 'old.secret'), `  ${OLD_SECRET}\n`, { mode: 0o600 });
  const rotation = { previousSecretFile: 'old.secret', previousUntil: new Date(nowMs + 3_600_000).toISOString() };
  api = await startTestApi({
    folder,
    now: () => nowMs,
    config: {
      keys: [
        keyOf('local'),
        keyOf('rotating', rotation),
        keyOf('elsewhere', { addresses: ['10.0.0.0/8', '2001:db8::/32'] }),
        keyOf('here', { addresses: ['192.168.0.0/16', '127.0.0.0/8'] }),
      ],
      limits: { authFailuresPerMinute: 10_000, maxPayloadChars: 1000 },
    },
  });
});
afterAll(() => api.stop());

const handled = () => api.calls.splice(0).length;

describe('the shape of the envelope', () => {
  const rows: [string, Record<string, unknown>, number?][] = [
    ['v missing', { v: undefined }],
    ['v 2', { v: 2 }],
    ['v as text', { v: '1' }],
    ['kid missing', { kid: undefined }],
    ['kid empty', { kid: '' }],
    ['kid with a slash', { kid: 'a/b' }],
    ['kid with a line feed at its end', { kid: 'local\n' }],
    ['kid of 65 characters', { kid: 'k'.repeat(65) }],
    ['kid a number', { kid: 1 }],
    ['ts missing', { ts: undefined }],
    ['ts as text', { ts: '1790000000' }],
    ['ts with a fraction', { ts: 1790000000.5 }],
    ['ts null', { ts: null }],
    ['nonce empty', { nonce: '' }],
    ['nonce of 65 characters', { nonce: 'n'.repeat(65) }],
    ['nonce with a space', { nonce: 'a b' }],
    ['nonce with a line feed', { nonce: 'a\nb' }],
    ['nonce with a letter beyond ASCII', { nonce: 'é' }],
    ['nonce with DEL', { nonce: '\x7f' }],
    ['payload an object', { payload: {} }],
    ['payload missing', { payload: undefined }],
    ['payload with half a character', { payload: '"\ud800"' }],
    ['payload too long', { payload: `"${'x'.repeat(1000)}"` }, 413],
    ['sig missing', { sig: undefined }],
    ['sig null', { sig: null }],
  ];
  for (const [what, changes, status = 400] of rows) {
    it(`${what} is ${status}`, async () => {
      const envelope = { ...api.client.envelope(PATH, PAYLOAD), ...changes } as Envelope;
      const code = status === 413 ? 'payload_too_large' : 'invalid_request';
      expect(await api.client.send(PATH, envelope)).toMatchObject({
        httpStatus: status,
        status,
        code,
        isSigned: false,
      });
      expect(handled()).toBe(0);
    });
  }

  const spellings = ['1790000000.0', '1.79e9', '179000000e1', '01790000000'];
  for (const spelling of spellings) {
    it(`ts written ${spelling} is 400`, async () => {
      const text = JSON.stringify(api.client.envelope(PATH, PAYLOAD, { ts: 1790000000 }));
      const answer = await api.client.post(PATH, text.replace('1790000000', spelling));
      expect(answer).toMatchObject({ httpStatus: 400, code: 'invalid_request', isSigned: false });
      expect(handled()).toBe(0);
    });
  }

  it('payload of exactly the limit, in characters and not in bytes, is taken', async () => {
    const payload = JSON.stringify({ ...PAYLOAD, pad: '' });
    const padded = JSON.stringify({ ...PAYLOAD, pad: 'é'.repeat(1000 - payload.length) });
    expect(await api.client.call('find', padded)).toMatchObject({ httpStatus: 200, isVerified: true });
    expect(handled()).toBe(1);
  });
});

describe('every failure of the signature is one and the same 401', () => {
  const answers: { body: string; headers: unknown }[] = [];
  const rows: [string, () => { envelope: Envelope; path?: string }][] = [
    ['unknown key', () => ({ envelope: api.clientOf('stranger').envelope(PATH, PAYLOAD) })],
    [
      'unknown key with the empty signature',
      () => ({ envelope: { ...api.clientOf('').envelope(PATH, PAYLOAD, { kid: 'x' }), sig: '' } }),
    ],
    ["another key's secret", () => ({ envelope: api.clientOf('local', secretOf('here')).envelope(PATH, PAYLOAD) })],
    ['signed for another path', () => ({ envelope: api.client.envelope('/v1/data/delete', PAYLOAD) })],
    ['another payload', () => change({ payload: '{"namespace":"game","table":"other"}' })],
    ['another nonce', () => change({ nonce: 'another' })],
    ['another time', () => change({ ts: api.client.seconds() - 1 })],
    ['another kid', () => change({ kid: 'here' })],
    ['signature in padded base64', () => change((sig) => `${sig}=`)],
    ['signature cut by one', () => change((sig) => sig.slice(0, -1))],
    ['signature with a spelling that decodes alike', () => change(sameBits)],
    ['signature in upper case', () => change((sig) => sig.toUpperCase())],
    ['signature with a wide character', () => change((sig) => `é${sig.slice(1)}`)],
    ['too old', () => ({ envelope: api.client.envelope(PATH, PAYLOAD, { ts: api.client.seconds() - SKEW - 1 }) })],
    ['too new', () => ({ envelope: api.client.envelope(PATH, PAYLOAD, { ts: api.client.seconds() + SKEW + 1 }) })],
    ['negative time', () => ({ envelope: api.client.envelope(PATH, PAYLOAD, { ts: -1 }) })],
    ['time that no double holds', () => ({ envelope: api.client.envelope(PATH, PAYLOAD, { ts: 2 ** 60 }) })],
    ['an address that the key does not allow', () => ({ envelope: api.clientOf('elsewhere').envelope(PATH, PAYLOAD) })],
  ];

  function change(changes: Partial<Envelope> | ((sig: string) => string)): { envelope: Envelope } {
    const envelope = api.client.envelope(PATH, PAYLOAD);
    const changed = typeof changes === 'function' ? { sig: changes(String(envelope.sig)) } : changes;
    return { envelope: { ...envelope, ...changed } };
  }

  /** The last of 43 characters has two bits to spare. */
  function sameBits(sig: string): string {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    return sig.slice(0, -1) + alphabet[alphabet.indexOf(sig.at(-1) as string) ^ 1];
  }

  for (const [what, make] of rows) {
    it(what, async () => {
      const answer = await api.client.send(PATH, make().envelope);
      expect(answer).toMatchObject({ httpStatus: 401, status: 401, code: 'unauthorized', isSigned: false });
      expect(handled()).toBe(0);
      record(answer);
    });
  }

  /** Over a stream there are no headers. */
  function record({ body, headers: { date: _date, ...headers } }: Answer): void {
    answers.push({ body, headers: 'content-type' in headers ? headers : {} });
  }

  it('a replay', async () => {
    const envelope = api.client.envelope(PATH, PAYLOAD);
    expect((await api.client.send(PATH, envelope)).isVerified).toBe(true);
    record(await api.client.send(PATH, envelope));
    expect(handled()).toBe(1);
  });

  it('no two of these answers differ in a byte', () => {
    expect(answers).toHaveLength(rows.length + 1);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    const heads = answers.map(({ headers }) => JSON.stringify(headers)).filter((text) => text !== '{}');
    expect(new Set(heads).size).toBe(1);
  });

  it('each costs the same HMACs: two while any key is rotated', async () => {
    const costs: number[] = [];
    for (const kid of ['local', 'rotating', 'stranger', 'elsewhere', 'here']) {
      for (const secret of [secretOf(kid), OLD_SECRET]) {
        const before = api.hmacs();
        await api.clientOf(kid, secret).call('find', PAYLOAD);
        costs.push(api.hmacs() - before);
      }
    }
    expect(new Set(costs)).toEqual(new Set([2]));
    handled();
  });
});

describe('what is right', () => {
  it('both ends of the skew are within it', async () => {
    for (const ts of [api.client.seconds() - SKEW, api.client.seconds() + SKEW]) {
      const answer = await api.client.send(PATH, api.client.envelope(PATH, PAYLOAD, { ts }));
      expect(answer).toMatchObject({ httpStatus: 200, isVerified: true });
    }
    expect(handled()).toBe(2);
  });

  it('one nonce serves two keys, as each has its own', async () => {
    for (const kid of ['local', 'here']) {
      const client = api.clientOf(kid);
      const answer = await client.send(PATH, client.envelope(PATH, PAYLOAD, { nonce: 'the-same' }));
      expect(answer).toMatchObject({ httpStatus: 200, isVerified: true });
    }
    expect(handled()).toBe(2);
  });

  it('a nonce of a request with a wrong signature is not used up', async () => {
    const envelope = api.client.envelope(PATH, PAYLOAD);
    expect((await api.client.send(PATH, { ...envelope, sig: 'x'.repeat(43) })).httpStatus).toBe(401);
    expect((await api.client.send(PATH, envelope)).isVerified).toBe(true);
    expect(handled()).toBe(1);
  });

  it('all visible ASCII may stand in a nonce', async () => {
    const nonce = Array.from({ length: 64 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
    expect((await api.client.send(PATH, api.client.envelope(PATH, PAYLOAD, { nonce }))).isVerified).toBe(true);
    expect(handled()).toBe(1);
  });

  it('one envelope sent 50 times at once succeeds once', async () => {
    // By POST: a stream is closed after 20 failures.
    const client = api.client.with({ transport: 'post' });
    const envelope = client.envelope(PATH, PAYLOAD);
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.send(PATH, envelope)));
    await client.close();
    const statuses = answers.map((answer) => answer.httpStatus).sort();
    expect(statuses).toEqual([200, ...Array<number>(49).fill(401)]);
    expect(handled()).toBe(1);
  });

  it('the request of another secret is answered under that secret until the rotation ends', async () => {
    const old = api.clientOf('rotating', OLD_SECRET);
    const fresh = api.clientOf('rotating');
    expect(await old.call('find', PAYLOAD)).toMatchObject({ httpStatus: 200, isVerified: true });
    expect(await fresh.call('find', PAYLOAD)).toMatchObject({ httpStatus: 200, isVerified: true });
    nowMs += 3_600_000;
    expect(await old.call('find', PAYLOAD)).toMatchObject({ httpStatus: 401, isSigned: false });
    expect(await fresh.call('find', PAYLOAD)).toMatchObject({ httpStatus: 200, isVerified: true });
    expect(handled()).toBe(3);
  });

  it('the answer of one request does not verify for another', async () => {
    const answer = await api.client.call('find', PAYLOAD);
    const { status, payload, sig } = answer.envelope as { status: number; payload: string; sig: string };
    expect(sig).not.toBe(hmac(secretOf('local'), 'v1resp', 'another-nonce', status, payload));
    expect(handled()).toBe(1);
  });
});
