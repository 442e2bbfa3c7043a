import { afterEach, describe, expect, it } from 'vitest';
import { IDLE_ENGINE, startTestApi, type TestApi } from '../support/api.ts';
import { keyOf } from '../support/config-folder.ts';
import { converse } from '../support/raw-http.ts';

const PAYLOAD = { namespace: 'game', table: 'things' };
let api: TestApi;
let nowMs = 1_790_000_000_000;
const now = () => nowMs;
afterEach(() => api.stop());

describe('requests a second', () => {
  it('of a key: the one too many is a signed 429 with Retry-After, and others go on', async () => {
    const keys = [keyOf('local'), keyOf('second')];
    api = await startTestApi({ now, config: { keys, limits: { perKeyPerSecond: 5 } } });
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.client.call('find', PAYLOAD)));
    const refused = answers.filter((answer) => answer.httpStatus === 429);
    expect(refused).toHaveLength(3);
    for (const answer of refused) {
      expect(answer).toMatchObject({ code: 'rate_limited', isVerified: true });
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect(api.calls).toHaveLength(5);
    expect((await api.clientOf('second').call('find', PAYLOAD)).httpStatus).toBe(200);
    expect(await api.metric('sidecar_rate_limited_total')).toBe(3);
    nowMs += 1020;
    expect((await api.client.call('find', PAYLOAD)).httpStatus).toBe(200);
  });

  it('of an address: unsigned, before anything is believed, and not for probes', async () => {
    api = await startTestApi({ now, config: { limits: { perAddressPerSecond: 5 } } });
    const wrong = api.clientOf('local', 'a-wrong-secret-of-more-than-thirty-two-bytes');
    // The upgrade to a stream is one more request.
    const calls = process.env.TEST_TRANSPORT === 'stream' ? 7 : 8;
    const answers = await Promise.all(Array.from({ length: calls }, () => wrong.call('find', PAYLOAD)));
    expect(answers.filter((answer) => answer.httpStatus === 429)).toHaveLength(3);
    const answer = await api.client.call('find', PAYLOAD);
    expect(answer).toMatchObject({ httpStatus: 429, code: 'rate_limited', isSigned: false });
    expect(answer.headers['retry-after']).toBe('1');
    expect((await api.client.get('/healthz')).status).toBe(200);
    expect(api.calls).toEqual([]);
  });

  it('never more than the limit within any second', async () => {
    api = await startTestApi({ now, config: { limits: { perKeyPerSecond: 10 } } });
    const handledAt: number[] = [];
    for (let step = 0; step < 60; step += 1) {
      nowMs += 70;
      const before = api.calls.length;
      await Promise.all([api.client.call('find', PAYLOAD), api.client.call('find', PAYLOAD)]);
      for (let count = before; count < api.calls.length; count += 1) handledAt.push(nowMs);
    }
    for (const start of handledAt) {
      expect(handledAt.filter((time) => time >= start && time < start + 1000).length).toBeLessThanOrEqual(10);
    }
    expect(handledAt.length).toBeGreaterThan(30);
  });
});

describe('time', () => {
  it('that passed while the process was stopped is answered without a warning of Node.js', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => warnings.push(name);
    process.on('warning', note);
    const { promise, resolve } = Promise.withResolvers<string>();
    const stopped = (): Promise<string> => {
      const until = performance.now() + 150;
      while (performance.now() < until);
      return promise;
    };
    api = await startTestApi({ config: { api: { requestTimeoutMs: 100 } }, handle: stopped });
    expect(await api.client.call('find', PAYLOAD)).toMatchObject({ httpStatus: 504, code: 'timeout' });
    resolve('{}');
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it('handling beyond requestTimeoutMs is a signed 504, and the late result goes nowhere', async () => {
    let finish = (_result: string) => {};
    const handle = () =>
      new Promise<string>((resolve) => {
        finish = resolve;
      });
    api = await startTestApi({ handle, config: { api: { requestTimeoutMs: 150 } } });
    const answer = await api.client.call('insert', { ...PAYLOAD, rows: [{}] });
    expect(answer).toMatchObject({ httpStatus: 504, code: 'timeout', isVerified: true });
    finish('{"inserted":1}');
    expect((await api.client.call('health')).isVerified).toBe(true);
  });

  it('schema.sync has longer', async () => {
    const handle = () => new Promise<string>((resolve) => setTimeout(resolve, 400, '{"changed":true}'));
    api = await startTestApi({ handle, config: { api: { requestTimeoutMs: 100 } } });
    const payload = { namespace: 'game', schema: { tables: [] } };
    const [sync, find] = await Promise.all([api.client.call('schema.sync', payload), api.client.call('find', PAYLOAD)]);
    expect(sync).toMatchObject({ httpStatus: 200, isVerified: true });
    expect(find.code).toBe('timeout');
    const [call] = api.calls.filter(({ operation }) => operation === 'schema.sync');
    expect((call?.context.deadline ?? 0) - performance.now()).toBeGreaterThan(100_000);
  });

  const slow = {
    'a connection that says nothing': '',
    'a head that does not end': 'POST /v1/health HTTP/1.1\r\nHost: a\r\nX-Slow: ',
    'a body that does not end':
      'POST /v1/health HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  };
  for (const [what, bytes] of Object.entries(slow)) {
    it(`${what} is closed soon after requestTimeoutMs, drips or not`, async () => {
      api = await startTestApi({ config: { api: { requestTimeoutMs: 300 } } });
      const startedMs = performance.now();
      const talk = converse(api.address, bytes);
      const drip = setInterval(() => talk.socket.writable && bytes !== '' && talk.socket.write('a'), 50);
      await talk.closed;
      clearInterval(drip);
      const tookMs = performance.now() - startedMs;
      expect(tookMs).toBeGreaterThan(250);
      expect(tookMs).toBeLessThan(10_000);
      expect(api.calls).toEqual([]);
    });
  }

  it('health and readiness answer while the database hangs, with one ping for all who ask', async () => {
    let pings = 0;
    const ping = () => {
      pings += 1;
      return new Promise<null>(() => {});
    };
    api = await startTestApi({ engine: { ...IDLE_ENGINE, ping } });
    const startedMs = performance.now();
    const [ready, health, live] = await Promise.all([
      api.client.get('/readyz'),
      api.client.call('health', { anything: [1, null] }),
      api.client.get('/healthz'),
      ...Array.from({ length: 20 }, () => api.client.get('/readyz')),
    ]);
    expect(performance.now() - startedMs).toBeLessThan(30_000);
    expect(ready).toMatchObject({ status: 503, body: '{"status":"unavailable","database":false}' });
    expect(health).toMatchObject({ httpStatus: 200, isVerified: true });
    expect(health.result).toMatchObject({ status: 'degraded', provider: 'sqlite', database: false });
    expect(live).toMatchObject({ status: 200, body: '{"status":"ok"}' });
    expect(pings).toBe(1);
  });
});
