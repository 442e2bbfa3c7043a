import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BundleInfo } from '#panel/shapes/bundles.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const HOSTILE = '<script>fetch("/api/users")</script>';

describe('bundles of a standalone server that the panel runs', () => {
  const root = testFolder();
  let panel: TestPanel;
  let owner: PanelClient;

  const put = (name: string, manifest: object, script: string) => {
    mkdirSync(join(root, 'bundles', name), { recursive: true });
    writeFileSync(join(root, 'bundles', name, 'bundle.json'), JSON.stringify({ server: 'server.js', ...manifest }));
    writeFileSync(join(root, 'bundles', name, 'server.js'), script);
  };
  const list = async (client = owner): Promise<BundleInfo[]> =>
    (await client.get('/api/bundles')).body.bundles as BundleInfo[];
  const states = async () => Object.fromEntries((await list()).map(({ name, state }) => [name, state]));

  beforeAll(async () => {
    put('base', { version: '1.0.0', description: HOSTILE, tags: ['core'] }, 'export default () => {};');
    put('shop', { version: '2.0.0', dependencies: ['base'] }, 'export default () => {};');
    put('broken', { version: '1.0.0' }, 'export default () => { throw new Error("no"); };');
    panel = await startTestPanel({ settings: { backend: 'standalone', serverRoot: root, stopWaitSeconds: 10 } });
    owner = await panel.owner();
  });

  afterAll(async () => {
    await panel.stop();
  });

  it('are refused to whoever may not see them, or not do that to them', async () => {
    expect((await panel.client().get('/api/bundles')).status).toBe(401);
    const friend = await panel.account('friend', ['bundles.read', 'bundles.start']);
    expect(await friend.post('/api/bundles/shop/stop')).toMatchObject({
      status: 403,
      body: { error: 'permission.missing' },
    });
    const writer = await panel.account('writer', ['bundles.stop', 'console.read']);
    expect((await writer.get('/api/bundles')).status).toBe(403);
    expect((await writer.post('/api/bundles/shop/stop')).status).toBe(403);
  });

  it('are listed from their folders while nothing runs, as data and never as a page', async () => {
    expect(await list()).toMatchObject([
      { name: 'base', version: '1.0.0', description: HOSTILE, state: 'stopped', tags: ['core'], autostart: true },
      { name: 'broken', state: 'stopped' },
      { name: 'shop', dependencies: ['base'] },
    ]);
    const { headers } = await owner.get('/api/bundles');
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('cannot be told anything while the server does not run', async () => {
    expect(await owner.post('/api/bundles/shop/start')).toMatchObject({
      status: 409,
      body: { error: 'server.stopped' },
    });
  });

  it.each([['nothing'], ['..%2Fshop'], ['%2e%2e'], ['shop%0Aquit'], ['__proto__']])(
    'are refused by a name that is none: %s',
    async (name) => {
      expect((await owner.post(`/api/bundles/${name}/stop`)).status).toBe(404);
    },
  );

  it('run, fail and stop with what they depend on, told to every stream at once', async () => {
    const stream = await panel.events(owner);
    expect((await owner.post('/api/server/start')).status).toBe(200);
    await expect.poll(states).toEqual({ base: 'started', broken: 'failed', shop: 'started' });
    expect((await owner.post('/api/bundles/base/stop')).status).toBe(200);
    await expect.poll(states).toEqual({ base: 'stopped', broken: 'failed', shop: 'stopped' });
    expect((await owner.post('/api/bundles/shop/start')).status).toBe(200);
    await expect.poll(states).toEqual({ base: 'started', broken: 'failed', shop: 'started' });
    await expect
      .poll(() =>
        (stream.of('bundles').at(-1) as BundleInfo[] | undefined)?.map(({ name, state }) => `${name} ${state}`),
      )
      .toEqual(['base started', 'broken failed', 'shop started']);
    const { body } = await owner.get('/api/audit');
    expect(body.entries).toContainEqual(
      expect.objectContaining({ action: 'bundles.stop', subject: 'base', username: 'owner', result: 'ok' }),
    );
    expect((await owner.post('/api/server/stop')).status).toBe(200);
    await expect.poll(states).toEqual({ base: 'stopped', broken: 'stopped', shop: 'stopped' });
  });
});
