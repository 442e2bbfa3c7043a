import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobStatus } from '#panel/shapes/jobs.ts';
import { secretOf } from '#support/config-folder.ts';
import { testFolder } from '#support/test-folder.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let home: string;
let panel: TestPanel;
let browser: PanelClient;
let key: string;

const post = (name: string, body: object = {}) =>
  browser.post<{ status: JobStatus }>(`/api/setup/${name}`, { key, ...body });
const jobState = async () => (await post('job')).body.status;
const account = { dashboardName: 'Town', username: 'chief', password: PASSWORD, confirmation: PASSWORD, locale: 'en' };

beforeAll(async () => {
  home = testFolder();
  panel = await startTestPanel();
  browser = panel.client();
  await browser.session();
  key = readFileSync(join(panel.folder, 'secrets/panel-setup.key'), 'utf8').trim();
});
afterAll(async () => {
  await panel.stop();
});

describe('installing a server from the browser', () => {
  const server = () => ({ backend: 'standalone', serverRoot: join(home, 'town') });

  it('asks for the server before it begins', async () => {
    expect((await post('install')).body).toMatchObject({ error: 'setup.serverRoot' });
    expect((await post('install', { serverRoot: join(home, 'town') })).body).toMatchObject({ error: 'setup.backend' });
    expect((await jobState()) ?? null).toBeNull();
  });

  it('runs one job at a time, and leaves nothing of one that is cancelled', async () => {
    const { body } = await post('install', server());
    expect(body.status).toMatchObject({ kind: 'setup.install', state: 'running', outcome: null });
    expect(await post('install', server())).toMatchObject({ status: 409, body: { error: 'setup.busy' } });
    await post('cancel');
    await expect.poll(async () => (await jobState()).state).toBe('cancelled');
    expect(readdirSync(home)).toEqual([]);
    expect(await post('finish', { ...account, ...server() })).toMatchObject({ status: 409 });
  });

  it('says why it failed, for a person', async () => {
    writeFileSync(join(home, 'file'), '');
    await post('install', { backend: 'fxserver', serverRoot: home });
    await expect.poll(async () => (await jobState()).state).toBe('failed');
    expect((await jobState()).message).toContain('there is no server.cfg');
    expect(readdirSync(home)).toEqual(['file']);
  });

  it('prepares the folder for this very sidecar, and counts for that folder only', async () => {
    await post('install', server());
    await expect.poll(async () => (await jobState()).state).toBe('succeeded');
    expect(await jobState()).toMatchObject({
      progress: 1,
      outcome: { ...server(), kept: [], notes: [expect.stringContaining('api.port')] },
    });
    const { url, secretFile } = JSON.parse(readFileSync(join(home, 'town/vfs/database.json'), 'utf8'));
    expect(url).toBe(panel.apiAddress);
    expect(readFileSync(join(home, 'town/vfs', secretFile), 'utf8').trim()).toBe(secretOf('local'));
    expect(existsSync(join(home, 'town/bundles/db_connector/server.js'))).toBe(true);
    const other = { ...account, backend: 'standalone', serverRoot: join(home, 'other') };
    expect(await post('finish', other)).toMatchObject({ status: 409, body: { error: 'setup.install' } });
    expect((await post('finish', { ...account, ...server() })).status).toBe(200);
    expect(panel.services.settings.values).toMatchObject(server());
  });

  it('no secret of it stands in the log', () => {
    expect(panel.log.join('\n')).not.toContain(secretOf('local'));
  });
});

describe('with a server that the start presets', () => {
  it('setup makes the account alone, and keeps nothing of the preset', async () => {
    const preset = { backend: 'standalone' as const, serverRoot: join(home, 'preset') };
    const started = await startTestPanel({ settings: preset });
    try {
      const person = started.client();
      await person.session();
      const own = readFileSync(join(started.folder, 'secrets/panel-setup.key'), 'utf8').trim();
      expect((await person.post('/api/setup/validate', { key: own })).body).toMatchObject({ preset });
      expect((await person.post('/api/setup/finish', { key: own, ...account })).status).toBe(200);
      expect(started.services.settings.values).toMatchObject({ ...preset, dashboardName: 'Town' });
      const kept = started.services.store.prepare("SELECT name FROM settings WHERE name LIKE '%e%'").all();
      expect(kept).not.toContainEqual({ name: 'serverRoot' });
      expect(kept).not.toContainEqual({ name: 'backend' });
    } finally {
      await started.stop();
    }
  });
});
