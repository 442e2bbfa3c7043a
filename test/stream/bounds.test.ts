import { afterEach, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '#support/api.ts';
import { callFrame, StreamClient } from '#support/stream-client.ts';

const PATH = '/v1/data/find';
const PAYLOAD = { namespace: 'game', table: 'characters' };
let api: TestApi;
const streams: StreamClient[] = [];

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close();
  await api.stop();
});

async function open(): Promise<StreamClient> {
  const stream = new StreamClient({ address: api.address });
  streams.push(stream);
  await stream.opened;
  return stream;
}

it('a client that takes no answers is not read beyond 16 MiB, and closed after 30 s', async () => {
  const answer = JSON.stringify({ rows: ['x'.repeat(100_000)], hasMore: false });
  api = await startTestApi({ handle: async () => answer });
  const stream = await open();
  await stream.send(PATH, api.client.envelope(PATH, PAYLOAD));
  stream.socket.pause();
  const startedAt = performance.now();
  for (let count = 0; count < 2000; count += 1) {
    stream.socket.send(callFrame(PATH, api.client.envelope(PATH, PAYLOAD)));
  }
  await expect.poll(() => api.metric('sidecar_streams'), { timeout: 45_000 }).toBe(0);
  expect(performance.now() - startedAt).toBeGreaterThan(29_000);
  // 16 MiB in memory, what the kernel holds, and what was under way: far from all 200 MB.
  expect(api.calls.length).toBeLessThan(1500);
});

it('unfinished messages of strangers share the bound of unfinished bodies', async () => {
  api = await startTestApi({ config: { limits: { maxBodyBytes: 1_048_576 } } });
  const all = await Promise.all(Array.from({ length: 12 }, open));
  // A long frame whose end never comes.
  for (const { socket } of all) socket.send(Buffer.alloc(900_000), { fin: false });
  await expect.poll(() => api.metric('sidecar_streams')).toBeLessThanOrEqual(9);
  expect(await api.metric('sidecar_streams')).toBeGreaterThanOrEqual(8);
});

it('both sides ping, so that a silent stream lives', async () => {
  api = await startTestApi();
  const stream = await open();
  await stream.send(PATH, api.client.envelope(PATH, PAYLOAD));
  await new Promise((resolve) => stream.socket.once('ping', resolve));
  expect((await stream.send(PATH, api.client.envelope(PATH, PAYLOAD))).status).toBe(200);
});
