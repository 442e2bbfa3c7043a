import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi, type TestApiOptions } from '#support/api.ts';
import type { Envelope } from '#support/signed-client.ts';
import { StreamClient, type StreamClientOptions } from '#support/stream-client.ts';

const PATH = '/v1/data/find';
const PAYLOAD = { namespace: 'game', table: 'characters' };
let api: TestApi;
const streams: StreamClient[] = [];

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await api.stop();
});

async function start(options: TestApiOptions = {}): Promise<void> {
  api = await startTestApi(options);
}

function open(options: Partial<StreamClientOptions> = {}): StreamClient {
  const stream = new StreamClient({ address: api.address, ...options });
  streams.push(stream);
  return stream;
}

const signed = (): Envelope => api.client.envelope(PATH, PAYLOAD);

/** Answer to the upgrade itself. */
async function refusal(options: Partial<StreamClientOptions>): Promise<{ status: number; code: string }> {
  const { status, body } = await open(options).send(PATH, signed());
  return { status, code: (JSON.parse(body) as { code: string }).code };
}

describe('an upgrade', () => {
  it('is refused to pages', async () => {
    await start();
    const headers = { origin: 'http://127.0.0.1:20771' };
    expect(await refusal({ headers })).toEqual({ status: 403, code: 'forbidden' });
  });

  it('needs the subprotocol', async () => {
    await start();
    expect(await refusal({ protocol: 'db.v2' })).toEqual({ status: 400, code: 'invalid_request' });
  });

  it('needs HTTPS where the API does', async () => {
    await start({ config: { api: { requireHttps: 'always' } } });
    expect(await refusal({})).toEqual({ status: 403, code: 'https_required' });
  });

  it('counts towards the bound of an address, and a closed stream makes room', async () => {
    await start();
    const all = Array.from({ length: 16 }, () => open());
    await Promise.all(all.map((stream) => stream.opened));
    expect(await refusal({})).toEqual({ status: 429, code: 'rate_limited' });
    expect(await api.metric('sidecar_streams')).toBe(16);
    all[0]?.close();
    await expect.poll(() => api.metric('sidecar_streams')).toBe(15);
    await open().opened;
  });

  it('counts towards the bound of all', async () => {
    await start({ config: { api: { maxStreams: 2 } } });
    await Promise.all([open().opened, open().opened]);
    expect(await refusal({})).toEqual({ status: 429, code: 'rate_limited' });
  });

  it('is not offered with maxStreams 0', async () => {
    await start({ config: { api: { maxStreams: 0 } } });
    expect(await refusal({})).toEqual({ status: 404, code: 'invalid_request' });
  });

  it('is refused during a lock-out', async () => {
    await start({
      config: { api: { trustedProxies: ['127.0.0.1'], requireHttps: 'never' }, limits: { authFailuresPerMinute: 1 } },
    });
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const wrong = api.client.with({ secret: 'another secret of more than 32 bytes', headers });
    expect((await wrong.call('find', PAYLOAD)).status).toBe(401);
    await wrong.close();
    expect(await refusal({ headers })).toEqual({ status: 429, code: 'rate_limited' });
    await open().opened;
  });

  it('is asked for by GET with the right headers only', async () => {
    await start();
    expect(await api.client.get('/v1/stream')).toMatchObject({ status: 400 });
    expect(await api.client.post('/v1/stream', '{}')).toMatchObject({ httpStatus: 405, headers: { allow: 'GET' } });
  });

  it('leaves a POST that asks for another protocol as it is', async () => {
    await start();
    const body = JSON.stringify(signed());
    const head = [`POST ${PATH} HTTP/1.1`, 'host: x', 'connection: upgrade, close', 'upgrade: h2c'];
    const socket = connect(Number(new URL(api.address).port), '127.0.0.1');
    socket.end([...head, 'content-type: application/json', `content-length: ${body.length}`, '', body].join('\r\n'));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 200 /);
  });
});
