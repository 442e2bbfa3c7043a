import { hostname } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClusterAnswer } from '#panel/shapes/cluster.ts';
import { startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;

beforeAll(async () => {
  panel = await startTestPanel();
});

afterAll(async () => {
  await panel.stop();
});

it('every account sees which sidecar the panel belongs to, and the others of its database', async () => {
  const viewer = await panel.account('viewer', []);
  const read = async () => (await viewer.get<ClusterAnswer>('/api/cluster')).body;
  const own = { box: hostname(), url: panel.apiAddress, version: expect.any(String), isAlive: true };
  expect(await read()).toEqual({
    ok: true,
    own: { ...own, instance: expect.any(String) },
    others: [],
    database: null,
    lacksStandby: false,
  });
  const other = { instance: 'other', box: 'box2', url: 'https://10.0.0.2:20771', version: '1.2.3' };
  const bounds = { deadline: performance.now() + 10_000 };
  await panel.services.base.engine.cluster.putSidecar({ ...other, seenAt: 1 }, null, bounds);
  await expect.poll(async () => (await read()).others, { timeout: 20_000 }).toEqual([{ ...other, isAlive: true }]);
  expect(await panel.client().get('/api/cluster')).toMatchObject({ status: 401 });
});
