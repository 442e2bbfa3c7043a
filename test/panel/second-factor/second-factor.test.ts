import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Permission } from '#panel/shapes/permissions.ts';
import { runAccounts } from '#sidecar/commands/accounts.ts';
import { loadConfig } from '#sidecar/config/load-config.ts';
import { type Authenticator, openAuthenticator } from '../support/authenticator.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

const STEP_MS = 30_000;

let panel: TestPanel;
let owner: PanelClient;
let codeAt: Authenticator;
let clock = Date.parse('2031-03-30T12:00:05Z');
let monotonic = 0;

const start = (folder?: string) =>
  startTestPanel({ now: () => clock, monotonicNow: () => monotonic, ...(folder === undefined ? {} : { folder }) });

beforeAll(async () => {
  codeAt = await openAuthenticator();
  panel = await start();
  owner = await panel.owner();
});

afterAll(() => panel.stop());

beforeEach(() => {
  // Limits and codes of one case are none of the next.
  monotonic += 3_600_000;
  clock += 600_000;
});

interface WithFactor {
  readonly client: PanelClient;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

async function withFactor(
  username: string,
  permissions: readonly Permission[] = ['console.read'],
): Promise<WithFactor> {
  const client = await panel.account(username, permissions);
  const { accounts, secondFactors } = panel.services;
  const id = accounts.idOf(username);
  const { secret } = secondFactors.begin({ id, username });
  const recoveryCodes = secondFactors.confirm(id, codeAt(secret, clock));
  clock += 2 * STEP_MS;
  return { client, secret, recoveryCodes };
}

/** A browser behind the password. */
async function ticketOf(username: string): Promise<{ browser: PanelClient; ticket: string }> {
  const browser = panel.client();
  const { body } = await browser.login(username, PASSWORD);
  return { browser, ticket: String(body.ticket) };
}

const step = (browser: PanelClient, ticket: string, code: string) =>
  browser.post('/api/login/second-factor', { ticket, code });

describe('a sign-in', () => {
  it('needs a code after the password; the code is good once', async () => {
    const { secret } = await withFactor('anna');
    const { browser, ticket } = await ticketOf('anna');
    expect((await browser.session()).authenticated).toBe(false);
    const code = codeAt(secret, clock);
    expect((await step(browser, ticket, ` ${code.slice(0, 3)} ${code.slice(3)} `)).status).toBe(200);
    expect(await browser.session()).toMatchObject({ authenticated: true, username: 'anna', secondFactor: 'set' });
    const again = await ticketOf('anna');
    expect(await step(again.browser, again.ticket, code)).toMatchObject({
      status: 401,
      body: { error: 'secondFactor.code' },
    });
    // A step either way, each once, and none that is older than the last.
    expect((await step(again.browser, again.ticket, codeAt(secret, clock - STEP_MS))).status).toBe(401);
    expect((await step(again.browser, again.ticket, codeAt(secret, clock + 2 * STEP_MS))).status).toBe(401);
    expect((await step(again.browser, again.ticket, codeAt(secret, clock + STEP_MS))).status).toBe(200);
    expect(await step(again.browser, again.ticket, codeAt(secret, clock + STEP_MS))).toMatchObject({ status: 400 });
  });

  it('names what it may go on with, and opens no session', async () => {
    await withFactor('bert');
    const browser = panel.client();
    const answer = await browser.login('bert', PASSWORD);
    expect(answer).toMatchObject({ status: 401, body: { error: 'login.secondFactor', kinds: ['totp', 'recovery'] } });
    expect(browser.cookies.has('panel-session')).toBe(false);
    expect((await panel.client().login('bert', 'wrong password')).body).toEqual({ ok: false, error: 'login.failed' });
  });

  it('of a ticket is of one browser, five minutes, five codes and one session', async () => {
    const { secret } = await withFactor('carl');
    const refused = { status: 401, body: { error: 'secondFactor.ticket' } };
    const { browser, ticket } = await ticketOf('carl');
    const thief = panel.client();
    await thief.session();
    expect(await step(thief, ticket, codeAt(secret, clock))).toMatchObject(refused);
    for (let wrong = 0; wrong < 5; wrong += 1) {
      expect((await step(browser, ticket, '000000')).body).toMatchObject({ error: 'secondFactor.code' });
    }
    expect(await step(browser, ticket, codeAt(secret, clock))).toMatchObject(refused);
    monotonic += 3_600_000;
    const late = await ticketOf('carl');
    monotonic += 300_000;
    expect(await step(late.browser, late.ticket, codeAt(secret, clock))).toMatchObject(refused);
    const used = await ticketOf('carl');
    const cookie = used.browser.cookieHeader;
    const { csrf } = used.browser;
    expect((await step(used.browser, used.ticket, codeAt(secret, clock))).status).toBe(200);
    const body = JSON.stringify({ ticket: used.ticket, code: codeAt(secret, clock + STEP_MS) });
    const headers = { cookie, 'x-csrf': csrf, 'content-type': 'application/json' };
    expect(await thief.raw({ method: 'POST', path: '/api/login/second-factor', headers, body })).toMatchObject(refused);
  });

  it('is limited for the account, right codes too, and for no other', async () => {
    const [dora, emil] = [await withFactor('dora'), await withFactor('emil')];
    for (let round = 0; round < 2; round += 1) {
      const { browser, ticket } = await ticketOf('dora');
      for (let wrong = 0; wrong < 5; wrong += 1) expect((await step(browser, ticket, '000000')).status).toBe(401);
    }
    const { browser, ticket } = await ticketOf('dora');
    const late = await step(browser, ticket, codeAt(dora.secret, clock));
    expect(late).toMatchObject({ status: 429, body: { error: 'rate.limited' } });
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    const other = await ticketOf('emil');
    expect((await step(other.browser, other.ticket, codeAt(emil.secret, clock))).status).toBe(200);
    // Sessions go on.
    expect((await dora.client.get('/api/status')).status).toBe(200);
    monotonic += 15 * 60_000;
    const again = await ticketOf('dora');
    expect((await step(again.browser, again.ticket, codeAt(dora.secret, clock))).status).toBe(200);
  });

  it('takes each recovery code once, however it is written', async () => {
    const { recoveryCodes, client } = await withFactor('fred');
    expect(recoveryCodes).toHaveLength(10);
    for (const code of recoveryCodes) expect(code).toMatch(/^[0-9a-z]{5}-[0-9a-z]{5}$/);
    const [first = ''] = recoveryCodes;
    const one = await ticketOf('fred');
    expect((await step(one.browser, one.ticket, first.toUpperCase().replace('-', ''))).status).toBe(200);
    expect((await client.get('/api/second-factor')).body).toMatchObject({ totp: true, recoveryCodes: 9 });
    const two = await ticketOf('fred');
    expect(await step(two.browser, two.ticket, first)).toMatchObject({ body: { error: 'secondFactor.code' } });
  });
});

describe('the factor of an account', () => {
  it('is offered with a URI and a picture without script, and confirmed by a code', async () => {
    const client = await panel.account('gina', ['console.read']);
    const other = panel.client();
    await other.login('gina', PASSWORD);
    expect(await client.post('/api/second-factor/totp/confirm', { code: '123456' })).toMatchObject({
      ...{ status: 409, body: { error: 'secondFactor.begin' } },
    });
    expect((await client.post('/api/second-factor/totp/begin', { password: 'wrong password' })).body).toMatchObject({
      error: 'login.failed',
    });
    const { body } = await client.post('/api/second-factor/totp/begin', { password: PASSWORD });
    const { secret, uri, qr } = body as Record<string, string>;
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const read = new URL(uri ?? '');
    expect([read.protocol, read.host]).toEqual(['otpauth:', 'totp']);
    expect(Object.fromEntries(read.searchParams)).toEqual({
      ...{ issuer: 'Game server', secret, algorithm: 'SHA1', digits: '6', period: '30' },
    });
    expect(qr).toMatch(
      /^<svg [^>]*viewBox="0 0 \d+ \d+"[^>]*><rect [^>]*\/><path fill="#000" d="[Mhvz0-9 -]+"\/><\/svg>$/,
    );
    expect((await client.post('/api/second-factor/totp/confirm', { code: '000000' })).status).toBe(401);
    expect((await client.get('/api/second-factor')).body).toMatchObject({ totp: false, passkeysPossible: false });
    const code = codeAt(secret ?? '', clock);
    expect((await client.post('/api/second-factor/totp/confirm', { code })).status).toBe(200);
    // Others of the account have ended; this one goes on.
    expect((await other.get('/api/status')).status).toBe(401);
    expect((await client.get('/api/status')).status).toBe(200);
    expect((await client.post('/api/second-factor/totp/begin', { password: PASSWORD })).body).toMatchObject({
      error: 'secondFactor.set',
    });
    // The code that confirmed it was used.
    const { browser, ticket } = await ticketOf('gina');
    expect((await step(browser, ticket, code)).status).toBe(401);
    expect((await owner.get('/api/users')).text).toContain(
      '"username":"gina","permissions":["console.read"],"enabled":true,"secondFactor":true',
    );
  });

  it('keeps nothing readable on the disk, and its key for the owner alone', async () => {
    const { secret, recoveryCodes } = await withFactor('hugo');
    const bytes = ['panel.sqlite', 'panel.sqlite-wal']
      .map((name) => readFileSync(join(panel.services.store.name, '..', name), 'latin1'))
      .join('');
    const audit = (await owner.get('/api/audit')).text;
    for (const text of [bytes, audit, ...panel.log]) {
      for (const code of [secret, ...recoveryCodes, ...recoveryCodes.map((one) => one.replace('-', ''))]) {
        expect(text.includes(code)).toBe(false);
      }
    }
    expect(statSync(join(panel.folder, 'secrets/panel.key')).mode & 0o777).toBe(0o600);
  });

  it('goes with password and code, and recovery codes are made again', async () => {
    const { client, secret, recoveryCodes } = await withFactor('ida');
    const [first = '', second = ''] = recoveryCodes;
    expect((await client.post('/api/second-factor/recovery', { password: PASSWORD, code: '000000' })).status).toBe(401);
    const renewed = await client.post<{ recoveryCodes: string[] }>('/api/second-factor/recovery', {
      ...{ password: PASSWORD, code: first },
    });
    expect(renewed.body.recoveryCodes).toHaveLength(10);
    const remove = (code: string) => client.post('/api/second-factor/totp/remove', { password: PASSWORD, code });
    expect(await remove(second)).toMatchObject({ status: 401, body: { error: 'secondFactor.code' } });
    expect((await remove(codeAt(secret, clock))).status).toBe(200);
    expect((await remove(codeAt(secret, clock + STEP_MS))).body).toMatchObject({ error: 'secondFactor.missing' });
    expect((await panel.client().login('ida', PASSWORD)).status).toBe(200);
  });

  it('is removed by an account that manages all of it, never by itself, and that is written down', async () => {
    const { client } = await withFactor('jana', ['console.read', 'users.manage']);
    await withFactor('kurt', ['console.read']);
    const reset = (by: PanelClient, username: string) => by.post('/api/users/second-factor/reset', { username });
    expect((await reset(client, 'jana')).body).toMatchObject({ error: 'secondFactor.own' });
    expect((await reset(client, 'owner')).body).toMatchObject({ error: 'users.grant' });
    const waiting = await ticketOf('kurt');
    expect((await reset(client, 'kurt')).status).toBe(200);
    expect((await step(waiting.browser, waiting.ticket, '000000')).body).toMatchObject({
      error: 'secondFactor.ticket',
    });
    expect((await panel.client().login('kurt', PASSWORD)).status).toBe(200);
    const { entries } = (await owner.get<{ entries: object[] }>('/api/audit')).body;
    expect(entries).toContainEqual(
      expect.objectContaining({ username: 'jana', action: 'users.second-factor.reset', subject: 'kurt', result: 'ok' }),
    );
  });

  it('is removed on the command line, with the sessions, and that is written down', async () => {
    const { client } = await withFactor('lena');
    const lines: string[] = [];
    const io = { print: (line: string) => void lines.push(line), printError: () => {}, isForPeople: false };
    const config = loadConfig(`${panel.folder}/sidecar.json`, {});
    expect(await runAccounts(['reset-second-factor', 'lena'], config, io)).toBe(true);
    expect(JSON.parse(lines[0] ?? '')).toEqual({ username: 'lena', secondFactor: false });
    expect((await client.get('/api/status')).status).toBe(401);
    expect(await runAccounts(['reset-second-factor', 'lena'], config, io)).toBe(false);
    expect((await owner.get('/api/audit')).text).toContain('"action":"users.second-factor.reset","subject":"lena"');
  });
});

describe('the setting secondFactorFor', () => {
  it('holds accounts without a factor back, and their tokens', async () => {
    const held = await panel.account('mia', ['server.restart', 'console.read']);
    const free = await panel.account('nils', ['console.read']);
    const { token } = panel.services.tokens.create(panel.services.accounts.idOf('mia'), {
      ...{ name: 'x', permissions: ['console.read'] },
    });
    const settings = await panel.account('otto', ['settings.write']);
    expect((await settings.post('/api/settings', { secondFactorFor: ['server.restart'] })).status).toBe(403);
    expect((await owner.post('/api/settings', { secondFactorFor: ['nothing'] })).body).toMatchObject({
      error: 'settings.secondFactorFor',
    });
    panel.services.settings.update({ secondFactorFor: ['server.restart'] });
    try {
      const required = { status: 403, body: { error: 'secondFactor.required' } };
      expect(await held.get('/api/status')).toMatchObject(required);
      // Before the permission is looked at.
      expect(await held.get('/api/users')).toMatchObject(required);
      expect(await held.post('/api/settings', { dashboardName: 'x' })).toMatchObject(required);
      const bearer = { authorization: `Bearer ${token}` };
      expect(await panel.client().raw({ path: '/api/console', headers: bearer })).toMatchObject(required);
      expect((await free.get('/api/status')).status).toBe(200);
      expect(await held.session()).toMatchObject({ authenticated: true, secondFactor: 'required' });
      expect((await held.post('/api/settings', { locale: 'de' })).status).toBe(200);
      expect((await held.get('/api/settings')).body).toEqual({ ok: true, settings: { locale: 'de' } });
      const { secret } = (await held.post('/api/second-factor/totp/begin', { password: PASSWORD })).body;
      const code = codeAt(String(secret), clock);
      expect((await held.post('/api/second-factor/totp/confirm', { code })).status).toBe(200);
      expect((await held.get('/api/status')).status).toBe(200);
      expect((await panel.client().raw({ path: '/api/console', headers: bearer })).status).toBe(200);
    } finally {
      panel.services.settings.update({ secondFactorFor: [] });
    }
  });
});

it('a code stays used over a restart of the panel', async () => {
  const { secret } = await withFactor('pia');
  const code = codeAt(secret, clock);
  const first = await ticketOf('pia');
  expect((await step(first.browser, first.ticket, code)).status).toBe(200);
  const { folder } = panel;
  await panel.stop();
  panel = await start(folder);
  const second = await ticketOf('pia');
  expect((await step(second.browser, second.ticket, code)).body).toMatchObject({ error: 'secondFactor.code' });
  expect((await step(second.browser, second.ticket, codeAt(secret, clock + STEP_MS))).status).toBe(200);
});
