import { afterAll, beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest';
import type { EndedSessions } from '#panel/accounts/sessions.ts';
import { HeldKeys } from '../support/held-keys.ts';
import { PASSWORD, PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { insertAccount } from '../support/quick-account.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let panel: TestPanel;
let now = Date.parse('2026-01-01T00:00:00Z');
/** How far the clock was set back. */
let setBackMs = 0;
const ended: EndedSessions[] = [];

beforeAll(async () => {
  // The tests' own machine is the proxy, so that each can come from an address of its own.
  panel = await startTestPanel({
    now: () => now - setBackMs,
    monotonicNow: () => now,
    config: { panel: { trustedProxies: ['127.0.0.1/32'] } },
  });
  await panel.owner();
  await panel.account('friend', ['console.read']);
  panel.services.sessions.onEnded((sessions) => ended.push(sessions));
});

afterAll(() => panel.stop());

async function signIn(address: string, username: string, password: string, client = panel.client()) {
  const { body } = await client.raw({ path: '/api/session', headers: { 'x-forwarded-for': address } });
  const headers = { 'content-type': 'application/json', 'x-csrf': String(body.csrf), 'x-forwarded-for': address };
  const answer = await client.raw({
    ...{ method: 'POST', path: '/api/login', headers },
    body: JSON.stringify({ username, password }),
  });
  await client.session();
  return { client, answer };
}

/** Attempts that were made already; each for itself would cost a fifth of a second. */
function tryBefore(source: string, times: number): void {
  for (let attempt = 1; attempt <= times; attempt += 1) panel.services.loginLimit.count(source);
}

const save = async (owner: PanelClient, body: object) =>
  expect((await owner.post('/api/users/save', body)).status).toBe(200);

describe('attempts', () => {
  it('beyond ten in fifteen minutes are refused to the address, without a look at the password', async () => {
    tryBefore('203.0.113.1', 8);
    // A right one counts too, and clears nothing.
    expect((await signIn('203.0.113.1', 'friend', PASSWORD)).answer.status).toBe(200);
    expect((await signIn('203.0.113.1', 'friend', 'wrong password')).answer.status).toBe(401);
    const { computed } = panel.services.hasher;
    now += 5 * MINUTE_MS;
    const { answer, client } = await signIn('203.0.113.1', 'friend', PASSWORD);
    expect(answer).toMatchObject({ status: 429, body: { ok: false, error: 'rate.limited' } });
    expect(answer.headers['retry-after']).toBe('600');
    expect(panel.services.hasher.computed).toBe(computed);
    expect(client.cookies.has('panel-session')).toBe(false);
  });

  it('of others are heard meanwhile, for the same account', async () => {
    expect((await signIn('203.0.113.2', 'friend', PASSWORD)).answer.status).toBe(200);
  });

  it('are heard again after that time', async () => {
    now += 10 * MINUTE_MS;
    expect((await signIn('203.0.113.1', 'friend', PASSWORD)).answer.status).toBe(200);
  });

  it('are heard again after that time although the clock was set back by a day', async () => {
    tryBefore('203.0.113.7', 10);
    setBackMs = DAY_MS;
    try {
      now += 16 * MINUTE_MS;
      expect((await signIn('203.0.113.7', 'friend', PASSWORD)).answer.status).toBe(200);
    } finally {
      setBackMs = 0;
    }
  });

  it('count when they begin, so that of three at once only two are left', async () => {
    tryBefore('203.0.113.3', 8);
    const answers = await Promise.all([1, 2, 3].map(() => signIn('203.0.113.3', 'friend', 'wrong password')));
    expect(answers.map(({ answer }) => answer.status).sort()).toEqual([401, 401, 429]);
  });

  it('from one household of IPv6 are from one source', async () => {
    tryBefore('2001:db8:0:1::/64', 10);
    expect((await signIn('2001:db8:0:1:ffff::9', 'friend', PASSWORD)).answer.status).toBe(429);
    expect((await signIn('2001:db8:0:2::9', 'friend', PASSWORD)).answer.status).toBe(200);
  });

  it('are written down with the address that a trusted proxy tells, and with no name but a known one', async () => {
    await signIn('203.0.113.4', 'friend', 'wrong password');
    await signIn('203.0.113.4', 'nobody', 'wrong password');
    const [second, first] = panel.services.audit.page(null, 2);
    expect(first).toMatchObject({
      action: 'login',
      username: 'friend',
      address: '203.0.113.4',
      result: 'login.failed',
    });
    expect(second).toMatchObject({ username: '', result: 'login.failed' });
  });
});

describe('a flood of attempts from ten addresses, ten of each', () => {
  const FLOODS = Array.from({ length: 10 }, (_, number) => `203.0.113.${100 + number}`);
  const NUMBERS = Array.from({ length: 10 }, (_, i) => i + 1);
  const addressOf = (password: string) => password.split(' ')[0] as string;
  const statuses = new Map<string, number>();
  const flooding: Promise<unknown>[] = [];
  let keys: HeldKeys;
  let verify: MockInstance;

  beforeAll(() => {
    keys = new HeldKeys((password) => password === PASSWORD);
    verify = vi.spyOn(panel.services.hasher, 'verify');
  });

  afterAll(() => {
    verify.mockRestore();
    keys.restore();
  });

  const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 30_000, interval: 1 });

  /** Called right after a sign-in: resolves when it is in the line of keys. */
  async function arrived(): Promise<void> {
    const { length } = verify.mock.calls;
    await until(() => verify.mock.calls.length > length);
  }

  const refusedOf = (address: string) => NUMBERS.filter((number) => statuses.get(`${address} ${number}`) === 429);

  it('fills the line of keys, where the newest of the address with the most is refused', async () => {
    for (const password of FLOODS.flatMap((address) => NUMBERS.map((number) => `${address} ${number}`))) {
      const attempt = signIn(addressOf(password), 'nobody', password);
      flooding.push(attempt.then(({ answer }) => statuses.set(password, answer.status)));
      await arrived();
    }
    // Two begin and 64 wait.
    await until(() => statuses.size >= 34);
    expect(statuses.size).toBe(34);
    expect(new Set(statuses.values())).toEqual(new Set([429]));
    expect(keys.begun).toEqual([`${FLOODS[0]} 1`, `${FLOODS[0]} 2`]);
    // Among addresses with as many, the newcomer loses.
    const heard = [8, 6, 6, 6, 6, 7, 7, 7, 7, 6];
    expect(FLOODS.map(refusedOf)).toEqual(heard.map((number) => NUMBERS.slice(number)));
  });

  it('leaves another address its turn, after one of each that waits', async () => {
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const before = keys.begun.length;
      const signedIn = signIn('203.0.113.99', 'friend', PASSWORD);
      await arrived();
      while (keys.begun.at(-1) !== PASSWORD) {
        const { length } = keys.begun;
        keys.release();
        await until(() => keys.begun.length > length);
      }
      const others = keys.begun.slice(before, -1).map(addressOf);
      expect(new Set(others).size, others.join(' ')).toBe(others.length);
      // The one that began before it, and its own.
      keys.release();
      keys.release();
      expect((await signedIn).answer.status).toBe(200);
    }
  });

  it('has its turns by address, each in the order of its attempts', async () => {
    keys.letGo();
    await Promise.all(flooding);
    const heard = [...statuses].filter(([, status]) => status === 401).map(([password]) => password);
    expect(heard).toHaveLength(65);
    const begun = keys.begun.filter((password) => password !== PASSWORD);
    expect(begun.toSorted()).toEqual(heard.toSorted());
    for (const address of FLOODS) {
      const turns = begun.filter((password) => addressOf(password) === address);
      expect(turns).toEqual(NUMBERS.slice(0, turns.length).map((number) => `${address} ${number}`));
    }
    for (let round = 0; round < 6; round += 1) {
      const turns = begun.slice(2 + round * 10, 12 + round * 10).map(addressOf);
      expect(turns.toSorted(), `round ${round}`).toEqual(FLOODS);
    }
  });
});

it('costs a name that nobody has what it costs a known one', async () => {
  const { hasher } = panel.services;
  const spent: number[] = [];
  for (const username of ['friend', 'nobody', '', 'x'.repeat(10_000), '../friend']) {
    const before = hasher.computed;
    const { answer } = await signIn('203.0.113.5', username, 'wrong password');
    expect(answer.text).toBe('{"ok":false,"error":"login.failed"}');
    spent.push(hasher.computed - before);
  }
  const before = hasher.computed;
  const { answer } = await signIn('203.0.113.5', 'friend', 'x'.repeat(100_000));
  expect(answer.text).toBe('{"ok":false,"error":"login.failed"}');
  spent.push(hasher.computed - before);
  expect(spent).toEqual([1, 1, 1, 1, 1, 1]);
});

describe('a session', () => {
  it('is never one that somebody brought along', async () => {
    const client = panel.client();
    const planted = 'A'.repeat(43);
    client.cookies.set('panel-session', planted);
    await signIn('203.0.113.6', 'friend', PASSWORD, client);
    expect(client.cookies.get('panel-session')).not.toBe(planted);
    const other = panel.client();
    other.cookies.set('panel-session', planted);
    expect(await other.session()).toMatchObject({ authenticated: false });
  });

  it('ends with the sign-in that replaces it', async () => {
    const { client } = await signIn('203.0.113.6', 'friend', PASSWORD);
    const first = client.cookies.get('panel-session') as string;
    await client.login('friend', PASSWORD);
    expect(client.cookies.get('panel-session')).not.toBe(first);
    client.cookies.set('panel-session', first);
    expect((await client.get('/api/users')).body).toMatchObject({ error: 'session.expired' });
  });

  it('has a cookie that no script and no other site can use', async () => {
    const { answer } = await signIn('203.0.113.6', 'friend', PASSWORD);
    const [cookie] = answer.headers['set-cookie'] as string[];
    expect(cookie).toMatch(/^panel-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=14400$/);
  });

  it('lasts four hours or thirty days from its beginning, used or not', async () => {
    const short = (await signIn('203.0.113.7', 'friend', PASSWORD)).client;
    const long = panel.client();
    const { headers } = await long.login('friend', PASSWORD, true);
    expect(headers['set-cookie']).toContainEqual(expect.stringContaining('Max-Age=2592000'));
    now += 4 * 60 * MINUTE_MS - 1000;
    expect(await short.session()).toMatchObject({ authenticated: true });
    now += 1000;
    expect((await short.post('/api/logout')).body).toMatchObject({ error: 'session.expired' });
    now += (30 * 24 - 4) * 60 * MINUTE_MS - 1000;
    expect(await long.session()).toMatchObject({ authenticated: true });
    ended.length = 0;
    now += 1000;
    panel.services.sessions.endExpired();
    await expect.poll(() => ended).toContainEqual({ sessionIds: expect.any(Array), reason: 'expired' });
    expect(await long.session()).toMatchObject({ authenticated: false });
  });
});

it('survives a restart of the sidecar, which a token from before still serves', async () => {
  const first = await startTestPanel();
  const before = await first.owner();
  await first.stop();
  const second = await startTestPanel({ folder: first.folder });
  const after = new PanelClient(second.address);
  for (const [name, value] of before.cookies) after.cookies.set(name, value);
  after.csrf = before.csrf;
  expect((await after.post('/api/logout')).status).toBe(200);
  await second.stop();
});

describe('what a manager changes', () => {
  it('of permissions holds from the next request on, and the session stays', async () => {
    const owner = await panel.owner();
    const { client } = await signIn('203.0.113.8', 'friend', PASSWORD);
    const told: unknown[] = [];
    panel.services.accounts.onPermissionsChanged((change) => told.push(change.permissions));
    await save(owner, { username: 'friend', permissions: ['users.manage', 'logs.read'] });
    expect((await client.get('/api/users')).status).toBe(200);
    await save(owner, { username: 'friend', permissions: ['logs.read'] });
    expect((await client.get('/api/users')).body).toMatchObject({ error: 'permission.missing' });
    expect(told).toEqual([['logs.read', 'users.manage'], ['logs.read']]);
  });

  it.each([
    ['a new password', 'renewed', '/api/users/save', { password: `${PASSWORD}!` }],
    ['being disabled', 'disabled', '/api/users/save', { enabled: false }],
    ['being deleted', 'deleted', '/api/users/delete', {}],
  ])('ends all sessions: %s', async (_what, username, path, change) => {
    const owner = await panel.owner();
    insertAccount(panel.services.store, username, ['console.read']);
    const { client, answer } = await signIn('203.0.113.9', username, PASSWORD);
    expect(answer.status).toBe(200);
    ended.length = 0;
    expect((await owner.post(path, { username, ...change })).status).toBe(200);
    await expect.poll(() => ended).toContainEqual({ sessionIds: expect.any(Array), reason: 'account' });
    expect((await client.post('/api/logout')).body).toMatchObject({ error: 'session.expired' });
    expect((await signIn('203.0.113.9', username, PASSWORD)).answer.body).toMatchObject({ error: 'login.failed' });
  });
});
