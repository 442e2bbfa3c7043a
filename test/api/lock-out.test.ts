import { afterEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type ConfigChanges, keyOf } from '../support/config-folder.ts';
import { converse, readAnswer } from '../support/raw-http.ts';

const FAILURES = 3;
const WRONG = 'a-wrong-secret-of-more-than-thirty-two-bytes';
const PAYLOAD = { namespace: 'game', table: 'things' };
/** Clients beyond a proxy: the only ones that are not loopback in a test. */
const PROXY = { trustedProxies: ['127.0.0.1'], requireHttps: 'never' };

let api: TestApi;
let nowMs = 1_790_000_000_000;
afterEach(() => api.stop());

async function start(options: ConfigChanges = {}): Promise<void> {
  api = await startTestApi({
    now: () => nowMs,
    config: {
      keys: [keyOf('local'), keyOf('second')],
      limits: { authFailuresPerMinute: FAILURES, lockoutSeconds: 90 },
      ...options,
    },
  });
}

/** Statuses of calls one after the other. */
async function statuses(times: number, kid: string, secret?: string, address?: string): Promise<number[]> {
  const headers = address === undefined ? {} : { 'x-forwarded-for': address };
  const client = api.clientOf(kid, secret).with({ headers });
  const found: number[] = [];
  for (let call = 0; call < times; call += 1) found.push((await client.call('find', PAYLOAD)).httpStatus);
  await client.close();
  return found;
}

describe('a loopback client', () => {
  it('is locked out under its key after N failures, and heard again after the time', async () => {
    await start();
    expect(await statuses(FAILURES + 2, 'local', WRONG)).toEqual([401, 401, 401, 429, 429]);
    const locked = await api.client.call('find', PAYLOAD);
    expect(locked).toMatchObject({ httpStatus: 429, code: 'rate_limited', isSigned: false });
    expect(locked.headers['retry-after']).toBe('90');
    expect(api.calls).toEqual([]);
    nowMs += 89_000;
    expect(await statuses(1, 'local')).toEqual([429]);
    nowMs += 1_000;
    expect(await statuses(1, 'local')).toEqual([200]);
  });

  it('does not lock out another key on its box', async () => {
    await start();
    await statuses(FAILURES, 'local', WRONG);
    expect(await statuses(1, 'second')).toEqual([200]);
    expect(await statuses(1, 'local')).toEqual([429]);
  });

  it('shares one count over all unknown keys, which touches no known one', async () => {
    await start();
    expect([...(await statuses(1, 'a')), ...(await statuses(1, 'b')), ...(await statuses(1, 'c'))]).toEqual([
      401, 401, 401,
    ]);
    expect(await statuses(1, 'd')).toEqual([429]);
    expect(await statuses(1, 'local')).toEqual([200]);
  });
});

describe('the minute slides', () => {
  it('failures more than a minute apart never lock', async () => {
    await start();
    for (let round = 0; round < 5; round += 1) {
      expect(await statuses(FAILURES - 1, 'local', WRONG)).toEqual([401, 401]);
      nowMs += 61_000;
    }
    expect(await statuses(1, 'local')).toEqual([200]);
  });

  it('the oldest failure leaves first', async () => {
    await start();
    expect(await statuses(2, 'local', WRONG)).toEqual([401, 401]);
    nowMs += 40_000;
    expect(await statuses(1, 'local', WRONG)).toEqual([401]);
    expect(await statuses(1, 'local')).toEqual([429]);
  });

  it('refusals while locked do not prolong it', async () => {
    await start();
    await statuses(FAILURES, 'local', WRONG);
    nowMs += 80_000;
    expect(await statuses(5, 'local', WRONG)).toEqual([429, 429, 429, 429, 429]);
    nowMs += 10_000;
    expect(await statuses(1, 'local')).toEqual([200]);
  });
});

describe('a client from elsewhere', () => {
  it('is locked out by address, whatever key it names', async () => {
    await start({ api: PROXY });
    expect(await statuses(2, 'local', WRONG, '203.0.113.9')).toEqual([401, 401]);
    expect(await statuses(1, 'nobody', WRONG, '203.0.113.9')).toEqual([401]);
    expect(await statuses(1, 'second', undefined, '203.0.113.9')).toEqual([429]);
  });

  it('locks out nobody but itself: not another address, not a key', async () => {
    await start({ api: PROXY });
    await statuses(FAILURES, 'local', WRONG, '203.0.113.9');
    expect(await statuses(1, 'local', undefined, '203.0.113.10')).toEqual([200]);
    expect(await statuses(1, 'local')).toEqual([200]);
  });

  it('is refused by its head: whatever its body is, which is not waited for', async () => {
    await start({ api: PROXY });
    await statuses(FAILURES, 'local', WRONG, '203.0.113.9');
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    for (const body of ['{}', '{', 'x'.repeat(10_000_000)]) {
      expect((await api.client.post('/v1/data/find', body, headers)).httpStatus).toBe(429);
    }
    const head =
      'POST /v1/data/find HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.9\r\nContent-Length: 100\r\n\r\n';
    const talk = converse(api.address, head);
    expect(readAnswer(await talk.seen('}"}'))).toMatchObject({ status: 429 });
    talk.socket.destroy();
    expect(api.calls).toEqual([]);
  });

  it('a replay counts as a failure', async () => {
    await start({ api: PROXY });
    const client = api.client.with({ headers: { 'x-forwarded-for': '203.0.113.9' } });
    const envelope = client.envelope('/v1/data/find', PAYLOAD);
    const found: number[] = [];
    for (let call = 0; call < 5; call += 1) found.push((await client.send('/v1/data/find', envelope)).httpStatus);
    await client.close();
    expect(found).toEqual([200, 401, 401, 401, 429]);
    expect(api.calls).toHaveLength(1);
  });
});

it('probes are exempt, and refusals for other reasons do not count', async () => {
  await start();
  for (let call = 0; call < FAILURES + 1; call += 1) {
    expect((await api.client.post('/v1/data/find', '{}')).httpStatus).toBe(400);
    expect((await api.client.call('find', '[]')).httpStatus).toBe(400);
  }
  expect(await statuses(1, 'local')).toEqual([200]);
  await statuses(FAILURES, 'local', WRONG);
  expect((await api.client.get('/v1/health')).status).toBe(200);
  expect((await api.client.get('/readyz')).status).toBe(200);
  expect(await api.metric('sidecar_auth_failures_total')).toBe(FAILURES);
});
