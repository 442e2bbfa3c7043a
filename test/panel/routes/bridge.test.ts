import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;
let viewer: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
  viewer = await panel.account('viewer', ['logs.read', 'console.read']);
});

afterAll(() => panel.stop());

describe('the bridge in the panel', () => {
  it('shows its state to everybody who has signed in, and to nobody else', async () => {
    expect((await panel.client().get('/api/bridge')).status).toBe(401);
    expect((await viewer.get('/api/bridge')).body).toMatchObject({
      ok: true,
      status: { enabled: false, listening: false, peers: 0, megabytes: 0, retentionDays: 14, maxMegabytes: 256 },
    });
  });

  it('lets nobody without settings.write change it, or make, see and revoke tokens', async () => {
    for (const [path, body] of [
      ['/api/bridge/settings', { enabled: true }],
      ['/api/bridge/tokens/create', { name: 'mine' }],
      ['/api/bridge/tokens/revoke', { id: 1 }],
    ] as const) {
      expect(await viewer.post(path, body)).toMatchObject({ status: 403, body: { error: 'permission.missing' } });
    }
    expect((await viewer.get('/api/bridge/tokens')).status).toBe(403);
    expect((await owner.get('/api/bridge/tokens')).body).toMatchObject({ tokens: [] });
    expect((await viewer.get('/api/bridge')).body).toMatchObject({ status: { enabled: false } });
  });

  it.each([
    ['/api/bridge/settings', { port: 'x' }, 400, 'bridge.port'],
    ['/api/bridge/settings', { enabled: true, maxMegabytes: 0 }, 400, 'bridge.maxMegabytes'],
    ['/api/bridge/tokens/create', { name: '' }, 400, 'bridge.name'],
    ['/api/bridge/tokens/create', { name: 'a\u0007b' }, 400, 'bridge.name'],
    ['/api/bridge/tokens/revoke', { id: 99 }, 404, 'bridge.unknown'],
  ])('%s refuses %j', async (path, body, status, error) => {
    expect(await owner.post(path, body)).toMatchObject({ status, body: { ok: false, error } });
    expect((await owner.get('/api/bridge')).body).toMatchObject({ status: { enabled: false, maxMegabytes: 256 } });
  });

  it('hands out a token once, takes lines with it, and writes down who did it without the token', async () => {
    const { body: made } = await owner.post('/api/bridge/tokens/create', { name: 'voice box' });
    const { token } = made as { token: string };
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const on = await owner.post('/api/bridge/settings', { enabled: true, port: 0 });
    const { port } = (on.body as { status: { port: number } }).status;
    const line = { time: new Date().toISOString(), level: 'error', module: 'voice', text: 'it fell over' };
    const sent = await fetch(`http://127.0.0.1:${port}/lines`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(line),
    });
    expect(sent.status).toBe(200);
    const listed = await owner.get('/api/bridge/tokens');
    expect(listed.body).toMatchObject({ tokens: [{ name: 'voice box', lastUsedAt: expect.any(String) }] });
    expect(listed.text + panel.log.join('')).not.toContain(token);
    await owner.post('/api/bridge/settings', { enabled: false });
    await expect(fetch(`http://127.0.0.1:${port}/lines`)).rejects.toThrow();
  });
});
