import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
});

afterAll(() => panel.stop());

describe('signing in', () => {
  it('refuses a wrong password and an unknown name alike', async () => {
    const client = panel.client();
    const wrong = await client.login('owner', 'another password');
    const unknown = await client.login('nobody', PASSWORD);
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(unknown.text).toBe(wrong.text);
    expect(wrong.body).toEqual({ ok: false, error: 'login.failed' });
    expect(client.cookies.has('panel-session')).toBe(false);
  });

  it('gives a session that says who is there', async () => {
    const session = await owner.session();
    expect(session).toMatchObject({ authenticated: true, username: 'owner' });
    expect(Object.keys(session).sort()).toEqual(['authenticated', 'csrf', 'permissions', 'secondFactor', 'username']);
  });

  it('tells nobody who is not signed in more than the start needs', async () => {
    const { body } = await panel.client().get('/api/bootstrap');
    expect(Object.keys(body).sort()).toEqual(['dashboardName', 'locale', 'locales', 'ok', 'setup', 'version']);
    expect(body).toMatchObject({ ok: true, setup: false });
  });

  it('ends the session at sign-out, and then says that it is gone', async () => {
    const client = new PanelClient(panel.address);
    await client.login('owner', PASSWORD);
    const token = client.cookies.get('panel-session') as string;
    expect((await client.post('/api/logout')).status).toBe(200);
    client.cookies.set('panel-session', token);
    const again = await client.post('/api/logout');
    expect(again).toMatchObject({ status: 401, body: { ok: false, error: 'session.expired' } });
  });
});
