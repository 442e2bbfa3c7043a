import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PERMISSIONS } from '#panel/shapes/permissions.ts';
import { testFolder } from '#support/test-folder.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const NEEDS_KEY = ['validate', 'install', 'finish', 'pick', 'pick-status', 'job', 'cancel'];

let panel: TestPanel;
let browser: PanelClient;
let key: string;
let root: string;

function loggedKeys(log: readonly string[]): string[] {
  return log.map((line) => JSON.parse(line)).flatMap((line) => (line.msg === 'setup key' ? [line.key] : []));
}

const keyFile = () => join(panel.folder, 'secrets/panel-setup.key');
const whole = (changes: object = {}) => ({
  ...{ key, dashboardName: 'Los Santos', username: 'Chief', password: PASSWORD, confirmation: PASSWORD },
  ...{ locale: 'de', serverRoot: root, backend: 'command', ...changes },
});
const post = (name: string, body: unknown) => browser.post(`/api/setup/${name}`, body);
const noAccountYet = () => expect(panel.services.accounts.list()).toEqual([]);

beforeAll(async () => {
  root = testFolder();
  panel = await startTestPanel();
  browser = panel.client();
  await browser.session();
  key = loggedKeys(panel.log)[0] as string;
});
afterAll(async () => {
  await panel.stop();
});

describe('before the account is there', () => {
  it('the key is 256 bits in a file of the owner alone, and in one line of the log', () => {
    expect(loggedKeys(panel.log)).toEqual([readFileSync(keyFile(), 'utf8').trim()]);
    expect(Buffer.from(key, 'base64url')).toHaveLength(32);
    expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
  });

  it('bootstrap says that setup is to be done, and nothing of where', async () => {
    const { body } = await browser.get('/api/bootstrap');
    expect(body).toMatchObject({ ok: true, setup: true });
    expect(Object.keys(body).sort()).toEqual(['dashboardName', 'locale', 'locales', 'ok', 'setup', 'version']);
  });

  it('the console is told without the key', async () => {
    expect((await browser.get('/api/setup/console')).body).toEqual({ ok: true, available: expect.any(Boolean) });
  });

  it.each(NEEDS_KEY)('%s takes no POST of another page', async (name) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ key });
    const answer = await browser.raw({ method: 'POST', path: `/api/setup/${name}`, headers, body });
    expect(answer).toMatchObject({ status: 400, body: { error: 'csrf.invalid' } });
  });

  it.each([
    ['dashboardName', { dashboardName: '' }],
    ['dashboardName', { dashboardName: 'x'.repeat(65) }],
    ['dashboardName', { dashboardName: 'two\nlines' }],
    ['username', { username: 'two words' }],
    ['username', { username: 7 }],
    ['password', { password: 'eleven char' }],
    ['confirmation', { password: PASSWORD, confirmation: `${PASSWORD}!` }],
    ['locale', { locale: '../en' }],
    ['serverRoot', { serverRoot: 'relative/path' }],
    ['serverRoot', { serverRoot: '/' }],
    ['serverRoot', { serverRoot: '/srv/../etc' }],
    ['serverRoot', { serverRoot: '/no/such/folder' }],
    ['serverRoot', { serverRoot: '/etc/passwd' }],
    ['serverRoot', { serverRoot: '/srv/a\u0000b' }],
    ['serverRoot', { serverRoot: '' }],
    ['backend', { backend: 'txadmin' }],
    ['backend', { backend: undefined }],
  ])('a bad %s is refused by its name: %j', async (field, changes) => {
    const refused = { status: 400, body: { ok: false, error: `setup.${field}`, field } };
    expect(await post('finish', whole(changes))).toMatchObject(refused);
    const given = Object.values(changes).some((value) => value !== undefined);
    if (given) expect(await post('validate', { key, backend: 'command', ...changes })).toMatchObject(refused);
    noAccountYet();
  });

  it('validate takes any subset, and names the first bad field in the order of the document', async () => {
    expect(await post('validate', { key })).toMatchObject({ status: 200, body: { ok: true, preset: null } });
    expect(await post('validate', { key, locale: 'fr', username: 'chief' })).toMatchObject({ status: 200 });
    const bad = { backend: 'x', locale: 'x', password: 'x', username: '?' };
    expect((await post('validate', { key, ...bad })).body).toMatchObject({ error: 'setup.username' });
  });

  it('a folder of the sidecar itself is no place for a server', async () => {
    const serverRoot = join(panel.folder, 'secrets/server');
    const { body } = await post('install', { key, backend: 'standalone', serverRoot });
    expect(body).toMatchObject({ error: 'setup.serverRoot', detail: expect.stringContaining('sidecar') });
    expect(existsSync(serverRoot)).toBe(false);
  });

  it('finish waits for an installation where the server needs one', async () => {
    const answer = await post('finish', whole({ backend: 'standalone' }));
    expect(answer).toMatchObject({ status: 409, body: { error: 'setup.install' } });
    noAccountYet();
  });

  it('no job has run, no dialog is open', async () => {
    expect((await post('job', { key })).body).toEqual({ ok: true, status: null });
    expect((await post('cancel', { key })).body).toEqual({ ok: true, status: null });
    expect((await post('pick-status', { key })).body).toMatchObject({ status: { path: null } });
  });

  it('the folder dialog opens for nobody behind a proxy', async () => {
    const headers = { 'content-type': 'application/json', 'x-csrf': browser.csrf, 'x-forwarded-for': '127.0.0.1' };
    const path = '/api/setup/pick';
    const answer = await browser.raw({ method: 'POST', path, headers, body: JSON.stringify({ key }) });
    expect(answer.body).toEqual({ ok: true, status: { state: 'unavailable', path: null } });
  });

  it('wrong keys of an address are told ten times, then no more; the right one goes on, as nobody may lock the owner out', async () => {
    const answers: (string | number)[] = [];
    for (const [index, name] of [...NEEDS_KEY, ...NEEDS_KEY].entries()) {
      const { status, body, headers } = await post(name, {
        key: [undefined, '', [key], `${key}x`, 'x'.repeat(43)][index % 5],
      });
      answers.push(status === 403 ? String(body.error) : status);
      if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(800);
    }
    const [wrong, missing] = ['setup.key', 'setup.keyMissing'];
    const five = [missing, missing, wrong, wrong, wrong];
    expect(answers).toEqual([...five, ...five, ...Array(4).fill(429)]);
    expect((await post('validate', { key })).status).toBe(200);
    noAccountYet();
  });
});

describe('of two that finish at once', () => {
  it('one makes the account, with every permission, and nobody is signed in', async () => {
    const [first, second] = await Promise.all([
      post('finish', whole()),
      post('finish', whole({ username: 'thief', dashboardName: 'Stolen' })),
    ]);
    expect([first.status, second.status].sort()).toEqual([200, 409]);
    expect([first, second].find(({ status }) => status === 409)?.body.error).toBe('setup.busy');
    const [account, ...others] = panel.services.accounts.list();
    expect(others).toEqual([]);
    expect(account).toEqual({ username: 'chief', permissions: PERMISSIONS, enabled: true, secondFactor: false });
    expect((await browser.session()).authenticated).toBe(false);
    expect(panel.services.settings.values).toMatchObject({
      dashboardName: 'Los Santos',
      backend: 'command',
      serverRoot: root,
    });
  });
});

describe('afterwards', () => {
  it('all of it is gone: the file, and every route for the very key', async () => {
    expect(existsSync(keyFile())).toBe(false);
    for (const name of NEEDS_KEY) {
      expect(await post(name, whole())).toMatchObject({ status: 404, body: { error: 'route.unknown' } });
    }
    expect((await browser.get('/api/setup/console')).status).toBe(404);
    expect((await browser.get('/api/bootstrap')).body).toMatchObject({
      setup: false,
      dashboardName: 'Los Santos',
      locale: 'de',
    });
  });

  it('the account signs in', async () => {
    expect((await browser.login('Chief', PASSWORD)).status).toBe(200);
  });

  it('the audit log names who set it up, and neither it nor the log holds the key again or the password', async () => {
    const { text } = await browser.get('/api/audit');
    expect(JSON.parse(text)).toMatchObject({ ok: true });
    expect(text).toContain('setup.finish');
    const written = [text, ...panel.log.filter((line) => !line.includes('"setup key"'))].join('\n');
    expect(written).not.toContain(key);
    expect(written).not.toContain(PASSWORD);
  });

  it('a later start makes no key, and removes one that a crash has left', async () => {
    writeFileSync(keyFile(), `${key}\n`, { mode: 0o600 });
    const { folder } = panel;
    await panel.stop();
    panel = await startTestPanel({ folder });
    expect(existsSync(keyFile())).toBe(false);
    expect(loggedKeys(panel.log)).toEqual([]);
  });
});
