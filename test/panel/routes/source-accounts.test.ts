import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FakeForge, FORGE_TOKEN, startFakeForge } from '#support/fake-forge.ts';
import { testFolder } from '#support/test-folder.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const BASE = '/api/bundle-tools';
let panel: TestPanel;
let owner: PanelClient;
let forge: FakeForge;
let minutes = 0;

beforeAll(async () => {
  forge = await startFakeForge(testFolder());
  panel = await startTestPanel({
    config: { panel: { caFile: forge.caFile } },
    monotonicNow: () => performance.now() + minutes * 60_000,
  });
  owner = await panel.owner();
  await owner.post('/api/settings', { bundleTools: true });
  const hosts = [forge.host];
  expect(
    (await owner.post(`${BASE}/settings`, { gitHosts: [...hosts, 'github.com'], privateHosts: hosts })).status,
  ).toBe(200);
});

afterEach(() => {
  forge.answerWith(null);
  minutes += 6;
});

afterAll(async () => {
  await panel.stop();
  await forge.stop();
});

const save = (changes: Record<string, unknown>) =>
  owner.post(`${BASE}/accounts/save`, {
    name: 'main',
    kind: 'github',
    url: forge.origin,
    token: FORGE_TOKEN,
    ...changes,
  });
const accounts = async () => (await owner.get(BASE)).body.accounts;
const test = async (name: string) => (await owner.post(`${BASE}/accounts/test`, { name })).body.result;

describe('accounts at other servers', () => {
  it('keep their token encrypted, and never show it', async () => {
    expect((await save({})).body).toEqual({ ok: true });
    const overview = await owner.get(BASE);
    expect(overview.body.accounts).toEqual([
      { name: 'main', kind: 'github', url: forge.origin, username: '', hasToken: true, refusedSince: null },
    ]);
    const audit = await owner.get('/api/audit');
    const key = join(panel.folder, 'secrets/accounts.key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const files = ['data/panel.sqlite', 'data/panel.sqlite-wal'].map((name) =>
      readFileSync(join(panel.folder, name), 'latin1'),
    );
    expect(overview.text + audit.text + panel.log.join('') + files.join('')).not.toContain(FORGE_TOKEN);
  });

  it('keep the token when saved without one, but never for another address', async () => {
    await save({ username: 'ann', token: undefined });
    expect(await accounts()).toMatchObject([{ username: 'ann', hasToken: true }]);
    const moved = await save({ url: `${forge.origin}/elsewhere`, token: undefined });
    expect(moved).toMatchObject({ status: 400, body: { error: 'bundleTools.token' } });
    expect(await accounts()).toMatchObject([{ url: forge.origin }]);
  });

  it('do not open a ciphertext that was moved to another account or address', async () => {
    await save({});
    await save({ name: 'other', token: 'another-token' });
    const file = new Database(join(panel.folder, 'data/panel.sqlite'));
    const sealed = file.prepare("SELECT token FROM source_accounts WHERE name = 'main'").pluck().get();
    file.prepare("UPDATE source_accounts SET token = ? WHERE name = 'other'").run(sealed);
    expect(await owner.post(`${BASE}/accounts/test`, { name: 'other' })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.token' },
    });
    file.prepare("UPDATE source_accounts SET url = 'https://github.com' WHERE name = 'main'").run();
    expect(await owner.post(`${BASE}/accounts/test`, { name: 'main' })).toMatchObject({
      status: 400,
      body: { error: 'bundleTools.token' },
    });
    file.close();
    expect(forge.requests.join('\n')).not.toContain('another-token');
    for (const name of ['main', 'other']) await owner.post(`${BASE}/accounts/delete`, { name });
    expect(await accounts()).toEqual([]);
  });

  it.each([
    ['name', { name: '../x' }, 400],
    ['name', { name: '' }, 400],
    ['kind', { kind: 'svn' }, 400],
    ['url', { url: 'http://github.com' }, 400],
    ['url', { url: 'https://me:secret@github.com' }, 400],
    ['url', { url: '--upload-pack=x' }, 400],
    ['host', { url: 'https://forge.example' }, 409],
    ['host', { url: 'https://github.com:444' }, 409],
    ['username', { username: 'a:b' }, 400],
    ['username', { username: 'a\nb' }, 400],
    ['token', { token: 'a\npassword=b' }, 400],
    ['token', { token: '' }, 400],
  ])('refuse a bad %s: %j', async (key, changes, status) => {
    expect(await save(changes)).toMatchObject({ status, body: { ok: false, error: `bundleTools.${key}` } });
    expect(await accounts()).toEqual([]);
  });

  it('are shown to accounts that manage or use them alone', async () => {
    await save({});
    const builder = await panel.account('builder', ['bundles.build']);
    expect((await builder.get(BASE)).body.accounts).toBeUndefined();
    const user = await panel.account('user', ['bundles.accounts.use']);
    expect((await user.get(BASE)).body.accounts).toHaveLength(1);
    expect(await user.post(`${BASE}/accounts/delete`, { name: 'main' })).toMatchObject({ status: 403 });
  });

  it('are unknown by another name', async () => {
    for (const action of ['accounts/delete', 'accounts/test']) {
      const answer = await owner.post(`${BASE}/${action}`, { name: 'nobody' });
      expect(answer).toMatchObject({ status: 404, body: { error: 'bundleTools.unknown' } });
    }
  });
});

describe.each([
  [
    'github',
    [
      { name: 'ann', kind: 'user' },
      { name: 'acme', kind: 'group' },
    ],
    'acme',
  ],
  [
    'gitea',
    [
      { name: 'ann', kind: 'user' },
      { name: 'acme', kind: 'group' },
    ],
    'acme',
  ],
  [
    'gitlab',
    [
      { name: 'ann', kind: 'user' },
      { name: 'acme/sub', kind: 'group' },
    ],
    'acme/sub',
  ],
] as const)('an account at %s', (kind, owners, group) => {
  const list = (query: Record<string, unknown>) =>
    owner.post(`${BASE}/remote/repositories`, { account: kind, owner: group, ...query });

  beforeAll(() => save({ name: kind, kind }));

  it('knows its user, the owners and their repositories, page by page', async () => {
    expect(await test(kind)).toEqual({ reachable: true, user: 'ann', error: null });
    expect((await owner.post(`${BASE}/remote/owners`, { account: kind })).body).toEqual({ ok: true, owners });
    const { body } = await list({});
    const [name, url] = [`${group}/shop-1`, `${forge.origin}/${group}/shop-1.git`];
    const updated = '2026-11-20T10:00:00Z';
    expect(body).toEqual({ ok: true, repositories: [{ name, url, private: kind !== 'gitea', updated }], more: true });
    expect((await list({ page: 2 })).body).toMatchObject({ repositories: [{ name: `${group}/shop-2` }], more: false });
    expect((await list({ owner: 'ann', search: 'tools' })).status).toBe(200);
  });

  it('remembers since when its token is refused, and says nothing of the token', async () => {
    await save({ name: kind, kind, token: 'no-longer-good' });
    const { text, body } = await owner.post(`${BASE}/accounts/test`, { name: kind });
    expect(body.result).toEqual({ reachable: true, user: null, error: 'bundleTools.credentials' });
    expect(text).not.toContain('no-longer-good');
    const since = () =>
      accounts().then(
        (all) => (all as { name: string; refusedSince: string }[]).find(({ name }) => name === kind)?.refusedSince,
      );
    const first = await since();
    expect(first).toMatch(/^\d{4}-/);
    expect(await list({})).toMatchObject({ status: 409, body: { error: 'bundleTools.credentials' } });
    expect(await since()).toBe(first);
    await save({ name: kind, kind });
    expect(await since()).toBeNull();
  });

  it.each([
    ['a redirect', 302, ''],
    ['something else', 200, '<html>'],
    ['another shape', 200, '{"login":1}'],
    ['too much', 200, ' '.repeat(1024 ** 2 + 1)],
  ])('refuses %s as an answer', async (_, status, body) => {
    forge.answerWith(
      (_request, response) => void response.writeHead(status, { location: `${forge.origin}/x` }).end(body),
    );
    expect(await list({})).toMatchObject({ status: 409, body: { error: 'bundleTools.network' } });
  });
});

describe('remote lists', () => {
  it('name no repository of another server, and search without qualifiers of the caller', async () => {
    await save({ name: 'github' });
    const { body } = await owner.post(`${BASE}/remote/repositories`, {
      account: 'github',
      owner: 'acme',
      search: 'shop',
    });
    expect(body.repositories).toMatchObject([{ name: 'acme/found' }]);
    for (const search of ['shop user:evil', 'a"b', 'x'.repeat(101)]) {
      const answer = await owner.post(`${BASE}/remote/repositories`, { account: 'github', owner: 'acme', search });
      expect(answer).toMatchObject({ status: 400, body: { error: 'bundleTools.search' } });
    }
    for (const name of ['../user', 'a/../b', '', 'a b', 'a?x']) {
      const answer = await owner.post(`${BASE}/remote/repositories`, { account: 'github', owner: name });
      expect(answer).toMatchObject({ status: 400, body: { error: 'bundleTools.owner' } });
    }
    const page = await owner.post(`${BASE}/remote/repositories`, { account: 'github', owner: 'acme', page: 0 });
    expect(page).toMatchObject({ status: 400, body: { error: 'bundleTools.page' } });
  });

  it('are not to be had from a plain git server, which can be tested all the same', async () => {
    await save({ name: 'plain', kind: 'git', url: `${forge.origin}/git` });
    expect(await owner.post(`${BASE}/remote/owners`, { account: 'plain' })).toMatchObject({
      status: 409,
      body: { error: 'remote.unsupported' },
    });
    expect(await test('plain')).toEqual({ reachable: true, user: null, error: null });
    forge.answerWith((_request, response) => void response.writeHead(401).end());
    expect(await test('plain')).toEqual({ reachable: true, user: null, error: 'bundleTools.credentials' });
  });

  it('are given 30 times in 5 minutes', async () => {
    const ask = () => owner.post(`${BASE}/remote/owners`, { account: 'plain' });
    for (let n = 0; n < 30; n += 1) expect((await ask()).status).toBe(409);
    const refused = await ask();
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate.limited' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    minutes += 6;
    expect((await ask()).status).toBe(409);
  });

  it('say that a host is away, or private without the right', async () => {
    expect((await owner.post(`${BASE}/settings`, { privateHosts: [] })).status).toBe(200);
    expect(await test('github')).toEqual({ reachable: false, user: null, error: 'bundleTools.host' });
    await owner.post(`${BASE}/settings`, { privateHosts: [forge.host] });
    await forge.stop();
    expect(await test('github')).toEqual({ reachable: false, user: null, error: 'bundleTools.network' });
  });
});
