import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '#panel/shapes/permissions.ts';
import { testFolder } from '#support/test-folder.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

interface Made {
  readonly id: number;
  readonly token: string;
}

const WAIT = { timeout: 30_000 };

/** Routes of the contract's list, by hand: the declarations are judged by it. */
const FOR_PROGRAMS = [
  ...['session', 'bootstrap', 'status', 'bundles', 'console', 'logs', 'log-files', 'log-files-current'],
  ...['log-files.zip', 'log-files/:name', 'diagnostics', 'events', 'charts', 'crashes', 'crashes/:id', 'server-name'],
  ...['schedule', 'players', 'backups'],
].map((path) => `GET /api/${path}`);
const FOR_ACTING = [
  ...['server/start', 'server/stop', 'server/restart', 'server/force-stop', 'command'],
  ...['bundles/:name/start', 'bundles/:name/stop', 'bundles/:name/restart'],
  ...['schedule/skip', 'schedule/now', 'schedule/delay', 'players/kick', 'backups/make'],
].map((path) => `POST /api/${path}`);

let panel: TestPanel;
let owner: PanelClient;
let clock: number;
let monotonic: number;

beforeAll(async () => {
  clock = Date.parse('2031-03-30T12:00:00Z');
  monotonic = 0;
  panel = await startTestPanel({
    now: () => clock,
    monotonicNow: () => monotonic,
    config: { panel: { trustedProxies: ['127.0.0.1'] } },
    settings: {
      backend: 'command',
      serverRoot: testFolder(),
      startLine: `${process.execPath} -e "setInterval(() => {}, 1000)"`,
    },
  });
  owner = await panel.owner();
});

afterAll(() => panel.stop());

beforeEach(() => {
  // Rates and limits of one case are none of the next.
  monotonic += 3_600_000;
});

/** Without the password, which costs a fifth of a second each. */
function make(username: string, fields: Record<string, unknown> = {}): Made {
  const { accounts, tokens } = panel.services;
  return tokens.create(accounts.idOf(username), { name: 'script', permissions: ['console.read'], ...fields });
}

/** A program without cookies. */
function call(token: string, path: string, { method = 'GET', body, headers = {} }: Call = {}) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = { authorization: `Bearer ${token}`, ...type, ...headers };
  return panel
    .client()
    .raw({ method, path, headers: sent, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
}

interface Call {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const setPermissions = async (username: string, permissions: readonly Permission[]) => {
  const { accounts } = panel.services;
  await accounts.save(accounts.idOf('owner'), { username, permissions });
};

describe('a token', () => {
  it('is shown once, and is nowhere on the disk, in a log or in an address', async () => {
    const { token, id } = make('owner');
    expect(token).toMatch(/^pnl_[A-Za-z0-9_-]{43}$/);
    await call(token, '/api/status');
    await call(token, '/api/users');
    panel.services.server.crashes.list();
    const listed = (await owner.get('/api/tokens')).text;
    expect(listed).toContain(`"id":${id}`);
    const files = ['panel.sqlite', 'panel.sqlite-wal'].map((name) =>
      readFileSync(join(panel.services.store.name, '..', name), 'latin1'),
    );
    for (const text of [listed, ...files, ...panel.log, (await owner.get('/api/audit')).text]) {
      expect(text).not.toContain(token.slice(4));
    }
  });

  it('stands for session and CSRF, reads no cookie and sets none', async () => {
    const { token } = make('owner', { permissions: ['console.read', 'server.stop'] });
    const stranger = await panel.account('passer-by', []);
    const cookie = { cookie: stranger.cookieHeader };
    const session = await call(token, '/api/session', { headers: cookie });
    expect(session.headers).not.toHaveProperty('set-cookie');
    expect(session.body).toMatchObject({ authenticated: true, username: 'owner', csrf: '' });
    expect(session.body.permissions).toEqual(['server.stop', 'console.read']);
    // An unknown session cookie would be refused on the way of a browser.
    const stale = { cookie: `panel-session=${'A'.repeat(43)}` };
    expect((await call(token, '/api/status', { headers: stale })).status).toBe(200);
    expect(await call(token, '/api/server/stop', { method: 'POST' })).toMatchObject({
      body: { error: 'server.stopped' },
    });
    expect(await call(token, '/api/status', { headers: { origin: 'http://elsewhere.example' } })).toMatchObject({
      body: { error: 'origin.invalid' },
    });
    expect((await call(token, '/api/status', { headers: { host: 'elsewhere.example' } })).body).toMatchObject({
      error: 'host.invalid',
    });
  });

  it('does not come with another scheme, nor from a cookie', async () => {
    const { token } = make('owner');
    const client = panel.client();
    const missing = { status: 401, body: { error: 'session.missing' } };
    expect(await client.raw({ path: '/api/status', headers: { authorization: `Basic ${token}` } })).toMatchObject(
      missing,
    );
    expect((await client.raw({ path: `/api/status?token=${token}` })).body).toMatchObject(missing.body);
    expect((await client.raw({ path: '/api/status', headers: { authorization: 'Bearer' } })).body).toMatchObject({
      error: 'token.invalid',
    });
  });

  it('opens the routes for programs, and no other', async () => {
    const { token } = make('owner');
    const open = panel.panel.routes.filter(({ access }) => access.token === true);
    const names = open.map(({ method, path }) => `${method} ${path}`);
    const expected = [...FOR_PROGRAMS, ...FOR_ACTING];
    expect(names.filter((name) => !expected.includes(name) && !/ \/api\/database\//.test(name))).toEqual([]);
    const all = panel.panel.routes.map(({ method, path }) => `${method} ${path}`);
    expect(expected.filter((name) => all.includes(name) && !names.includes(name))).toEqual([]);
    const closed = panel.panel.routes.filter(({ access }) => access.token !== true);
    for (const { method, path } of closed) {
      monotonic += 1000;
      const answer = await call(token, path.replaceAll(/:\w+/g, 'x'), { method });
      expect({ [path]: [answer.status, answer.body.error] }).toEqual({ [path]: [403, 'token.route'] });
    }
  });

  it('may do no more than its maker holds, also after those shrink', async () => {
    const maker = await panel.account('maker', ['console.read', 'logs.read', 'server.stop']);
    const beyond = await maker.post('/api/tokens/create', {
      ...{ name: 'x', password: PASSWORD, permissions: ['console.read', 'console.write'] },
    });
    expect(beyond).toMatchObject({ status: 403, body: { error: 'users.grant' } });
    const { token } = make('maker', { permissions: ['logs.read', 'server.stop'] });
    expect((await call(token, '/api/logs')).status).toBe(200);
    // Held by the maker, but not listed.
    expect((await call(token, '/api/console')).body).toMatchObject({ error: 'permission.missing' });
    await setPermissions('maker', ['server.stop', 'console.write']);
    expect((await call(token, '/api/logs')).body).toMatchObject({ error: 'permission.missing' });
    expect((await call(token, '/api/command', { method: 'POST', body: { text: 'x' } })).body).toMatchObject({
      error: 'permission.missing',
    });
    expect((await call(token, '/api/session')).body.permissions).toEqual(['server.stop']);
    await setPermissions('maker', ['logs.read']);
    expect((await call(token, '/api/logs')).status).toBe(200);
  });

  it('holds only from its addresses', async () => {
    const { token } = make('owner', { addresses: ['203.0.113.0/24', '2001:db8::/32'] });
    const from = (address: string) => call(token, '/api/status', { headers: { 'x-forwarded-for': address } });
    expect((await from('203.0.113.7')).status).toBe(200);
    expect((await from('2001:db8::1')).status).toBe(200);
    expect(await from('198.51.100.1')).toMatchObject({ status: 403, body: { error: 'token.address' } });
    await call(token, '/api/status', { headers: { 'x-forwarded-for': '203.0.113.9' } });
    const { tokens } = (await owner.get<{ tokens: { lastAddress: string }[] }>('/api/tokens')).body;
    expect(tokens[0]).toMatchObject({ lastAddress: '203.0.113.9', lastUsedAt: new Date(clock).toISOString() });
  });

  it('is refused above its rate, and that of another is its own', async () => {
    const [one, other] = [make('owner'), make('owner')];
    const answers = await Promise.all(Array.from({ length: 62 }, () => call(one.token, '/api/status')));
    const late = answers.filter(({ status }) => status === 429);
    expect(late.length).toBe(2);
    expect(late[0]?.headers['retry-after']).toBe('1');
    expect((await call(other.token, '/api/status')).status).toBe(200);
    monotonic += 1000;
    const later = await Promise.all(Array.from({ length: 11 }, () => call(one.token, '/api/status')));
    expect(later.filter(({ status }) => status === 200)).toHaveLength(10);
  });
});

describe('the end of a token', () => {
  it('comes with its time', async () => {
    const { token } = make('owner', { expiresAt: new Date(clock + 60_000).toISOString() });
    expect((await call(token, '/api/status')).status).toBe(200);
    clock += 60_000;
    expect(await call(token, '/api/status')).toMatchObject({ status: 401, body: { error: 'token.expired' } });
  });

  it('comes with a new password, with disabling and with deleting of its maker', async () => {
    const { accounts } = panel.services;
    const id = accounts.idOf('owner');
    const invalid = { status: 401, body: { error: 'token.invalid' } };
    await panel.account('fleeting', ['console.read']);
    const first = make('fleeting');
    await accounts.save(id, { username: 'fleeting', password: `${PASSWORD}!` });
    expect(await call(first.token, '/api/status')).toMatchObject(invalid);
    const second = make('fleeting');
    await accounts.save(id, { username: 'fleeting', enabled: false });
    await accounts.save(id, { username: 'fleeting', enabled: true });
    expect(await call(second.token, '/api/status')).toMatchObject(invalid);
    const third = make('fleeting');
    accounts.remove(id, 'fleeting');
    expect(await call(third.token, '/api/status')).toMatchObject(invalid);
  });

  it('ends its streams: revoked, or expired', async () => {
    for (const end of ['revoked', 'expired']) {
      const { id, token } = make('owner', { expiresAt: new Date(clock + 60_000).toISOString() });
      const stream = await panel.events(panel.client(), '', { authorization: `Bearer ${token}` });
      await expect.poll(() => stream.of('permissions').length, WAIT).toBe(1);
      if (end === 'revoked') await owner.post('/api/tokens/revoke', { id });
      else clock += 60_000;
      const reason = end === 'revoked' ? 'account' : 'expired';
      await expect.poll(() => stream.of('bye'), WAIT).toEqual([{ reason }]);
      await expect.poll(() => stream.isEnded, WAIT).toBe(true);
    }
  });

  it('is brought by its maker, or by an account that manages all that the maker may do', async () => {
    await panel.account('weak', ['console.read']);
    const other = await panel.account('other', ['console.read']);
    const manager = await panel.account('manager', ['users.manage', 'console.read']);
    const [own, strong] = [make('weak'), make('owner')];
    expect((await other.get<{ tokens: object[] }>('/api/tokens')).body.tokens).toEqual([]);
    expect(await other.post('/api/tokens/revoke', { id: own.id })).toMatchObject({ body: { error: 'tokens.unknown' } });
    expect((await manager.post('/api/tokens/revoke', { id: strong.id })).body).toMatchObject({ error: 'users.grant' });
    expect((await manager.get('/api/tokens')).text).toContain('"username":"weak"');
    expect((await manager.post('/api/tokens/revoke', { id: own.id })).status).toBe(200);
    expect((await call(own.token, '/api/status')).body).toMatchObject({ error: 'token.invalid' });
    const { entries } = (await owner.get<{ entries: object[] }>('/api/audit')).body;
    expect(entries).toContainEqual(
      expect.objectContaining({ username: 'manager', action: 'tokens.revoke', subject: 'script (weak)', token: '' }),
    );
  });
});

describe('making one', () => {
  const draft = { name: 'script', permissions: ['console.read'], password: PASSWORD };
  const past = '2031-03-30T11:59:59Z';

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'a\nb' }],
    ['name', { name: 'x'.repeat(65) }],
    ['permissions', { permissions: [] }],
    ['permissions', { permissions: ['console.everything'] }],
    ['permissions', { permissions: ['users.manage'] }],
    ['permissions', { permissions: ['console.read', 'settings.write'] }],
    ['addresses', { addresses: ['10.0.0.0/33'] }],
    ['addresses', { addresses: 'any' }],
    ['expiresAt', { expiresAt: past }],
    ['expiresAt', { expiresAt: 'soon' }],
  ])('names the field %s of %j', async (field, fields) => {
    const answer = await owner.post('/api/tokens/create', { ...draft, ...fields });
    expect(answer).toMatchObject({ status: 400, body: { error: `tokens.${field}`, field } });
  });

  it('asks for the password, and a wrong one counts as a sign-in', async () => {
    const ask = async (password: string) => (await owner.post('/api/tokens/create', { ...draft, password })).status;
    const wrong = Array.from({ length: 9 }, () => ask('not the password'));
    expect(await Promise.all(wrong)).toEqual(Array(9).fill(401));
    // A right password takes nothing of the limit.
    expect([await ask(PASSWORD), await ask(PASSWORD), await ask('not the password')]).toEqual([200, 200, 401]);
    expect(await ask(PASSWORD)).toBe(429);
    expect((await panel.client().login('owner', PASSWORD)).status).toBe(429);
  });

  it('has a year by default, no end if asked, and at most 50 an account', async () => {
    const many = await panel.account('many', ['console.read']);
    make('many');
    make('many', { expiresAt: null });
    const { tokens } = (await many.get<{ tokens: { expiresAt: string | null }[] }>('/api/tokens')).body;
    expect(tokens.map(({ expiresAt }) => expiresAt)).toEqual([null, new Date(clock + 365 * 86_400_000).toISOString()]);
    const id = panel.services.accounts.idOf('many');
    for (let count = 2; count < 50; count += 1)
      panel.services.tokens.create(id, { name: 'x', permissions: ['console.read'] });
    expect(await many.post('/api/tokens/create', draft)).toMatchObject({
      status: 409,
      body: { error: 'tokens.tooMany' },
    });
  });
});

it('audit log and console name the token beside the account', async () => {
  const { token } = make('owner', { name: 'night script', permissions: ['server.start', 'server.force-stop'] });
  expect((await call(token, '/api/server/start', { method: 'POST' })).status).toBe(200);
  await call(token, '/api/server/force-stop', { method: 'POST' });
  await call(token, '/api/users');
  const { entries } = (await owner.get<{ entries: { action: string }[] }>('/api/audit')).body;
  expect(entries.find(({ action }) => action === 'server.start')).toMatchObject({
    ...{ username: 'owner', token: 'night script' },
  });
  expect((await owner.get('/api/console')).text).toContain('owner (night script) starts the server');
});
