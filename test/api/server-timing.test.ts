import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';

const SPENT_MS = 30;
const FIND = { namespace: 'game', table: 't' };

let api: TestApi;
let isRefused = false;

/** Spends the time of a database. */
async function work(): Promise<string> {
  const end = performance.now() + SPENT_MS;
  while (performance.now() < end);
  if (isRefused) throw new Error('broken');
  return '{"rows":[],"hasMore":false}';
}

beforeAll(async () => {
  api = await startTestApi({ handle: ({ context }) => context.timing.database(work) });
});
afterAll(() => api.stop());

function timesOf(header: unknown): { total: number; db: number } {
  const [, total, db] = /^total;dur=(\d+\.\d), db;dur=(\d+\.\d)$/.exec(String(header)) ?? [];
  return { total: Number(total), db: Number(db) };
}

describe('Server-Timing', () => {
  it('tells who has signed how long the request and its database took, also of a failure', async () => {
    for (isRefused of [false, true]) {
      const answer = await api.client.call('find', FIND);
      expect(answer.isVerified).toBe(true);
      const { total, db } = timesOf(answer.headers['server-timing']);
      expect(db).toBeGreaterThanOrEqual(SPENT_MS - 0.1);
      expect(total).toBeGreaterThanOrEqual(db);
    }
  });

  it('tells strangers nothing', async () => {
    const refused = await api.clientOf('local', 'another-secret-of-at-least-thirty-two-bytes').call('find', FIND);
    expect(refused.status).toBe(401);
    expect(refused.headers).not.toHaveProperty('server-timing');
    expect((await api.client.get('/v1/health')).headers).not.toHaveProperty('server-timing');
  });
});
