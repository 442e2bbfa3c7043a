import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csrfToken } from '#panel/http/cookies.ts';
import { converse } from '#support/raw-http.ts';
import { PASSWORD, type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';

let panel: TestPanel;
let owner: PanelClient;
let viewer: PanelClient;
let host: string;

beforeAll(async () => {
  panel = await startTestPanel();
  owner = await panel.owner();
  viewer = await panel.account('viewer', ['console.read']);
  host = new URL(panel.address).host;
});

afterAll(() => panel.stop());

const JSON_TYPE = { 'content-type': 'application/json' };
const save = '/api/users/save';

describe('the Host header', () => {
  const port = () => new URL(panel.address).port;

  it.each([
    ['of another name', () => `evil.example:${port()}`],
    ['without the port', () => 'localhost'],
    ['with another port', () => 'localhost:1'],
    ['that only begins like ours', () => `localhost:${port()}.evil.example`],
    ['with a user', () => `evil@localhost:${port()}`],
    ['with a dot at the end', () => `localhost.:${port()}`],
  ])('%s is refused, whatever is asked for', async (_what, value) => {
    for (const [method, path] of [
      ['GET', '/api/session'],
      ['GET', '/'],
      ['GET', '/nowhere'],
      ['GET', '/api/%'],
      ['POST', save],
      ['DELETE', save],
    ] as const) {
      const answer = await owner.raw({ method, path, headers: { host: value() } });
      expect(answer).toMatchObject({ status: 400, body: { ok: false, error: 'host.invalid' } });
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'HEAD', 'POST'])(
    'comes first with %s too, whatever its body is said to be',
    async (method) => {
      for (const type of ['', 'Content-Type: application/json\r\n', 'Content-Type: bad/bad/bad\r\n']) {
        const head = `${method} ${save} HTTP/1.1\r\nHost: evil.example\r\n${type}Content-Length: 1\r\n`;
        const { closed } = converse(panel.address, `${head}Connection: close\r\n\r\n{`);
        const answer = await closed;
        expect(answer).toMatch(/^HTTP\/1\.1 400 .*content-security-policy: /s);
        if (method !== 'HEAD') expect(answer).toMatch(/"host\.invalid"\}$/);
      }
    },
  );

  it('is refused where it is missing, empty, or there twice', async () => {
    for (const lines of ['', 'Host:\r\n', `Host: ${host}\r\nHost: evil.example\r\n`]) {
      const { closed } = converse(panel.address, `GET /api/session HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
      expect(await closed).toMatch(/^HTTP\/1\.1 400 .*"host\.invalid"/s);
    }
  });

  it.each(['127.0.0.1', 'localhost', 'LOCALHOST', 'panel.localhost', '[::1]'])('%s is ours', async (name) => {
    const answer = await panel.client().raw({ path: '/api/bootstrap', headers: { host: `${name}:${port()}` } });
    expect(answer.status).toBe(200);
  });
});

describe('the Origin header', () => {
  it.each([
    ['of another site', () => 'http://evil.example'],
    ['of another port of this machine', () => 'http://127.0.0.1:1'],
    ['of another name of this machine', () => panel.address.replace('127.0.0.1', 'localhost')],
    ['of another scheme', () => panel.address.replace('http:', 'https:')],
    ['null', () => 'null'],
    ['with something behind it', () => `${panel.address}/`],
    ['that is empty', () => ''],
  ])('%s is refused, for reading too', async (_what, origin) => {
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await owner.raw({ method, path: '/api/session', headers: { origin: origin() } });
      expect(answer).toMatchObject({ status: 403, body: { ok: false, error: 'origin.invalid' } });
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('is not believed with forwarded headers of strangers', async () => {
    const headers = { origin: panel.address.replace('http:', 'https:'), 'x-forwarded-proto': 'https' };
    expect((await owner.raw({ path: '/api/session', headers })).body).toMatchObject({ error: 'origin.invalid' });
    const moved = { host: `evil.example`, 'x-forwarded-host': host };
    expect((await owner.raw({ path: '/api/session', headers: moved })).body).toMatchObject({ error: 'host.invalid' });
  });

  it('passes where it is the panel itself', async () => {
    const answer = await owner.raw({ path: '/api/users', headers: { origin: panel.address } });
    expect(answer.status).toBe(200);
  });
});

it('judges in the order of the contract: of all faults at once the first is told', async () => {
  const right = {
    host,
    origin: panel.address,
    cookie: viewer.cookieHeader,
    'x-csrf': viewer.csrf,
    ...JSON_TYPE,
    body: '{"username":"x"}',
  };
  const wrong = {
    host: 'evil.example',
    origin: 'http://evil.example',
    cookie: `panel-session=${'A'.repeat(43)}; panel-csrf=${viewer.cookies.get('panel-csrf')}`,
    'x-csrf': 'nothing',
    'content-type': 'text/plain',
    body: '{',
  };
  const ask = async (changes: object) => {
    const { body, ...headers } = { ...wrong, ...changes };
    const answer = await panel.client().raw({ method: 'POST', path: save, headers, body });
    return answer.body.error;
  };
  const { host: _h, origin, cookie, 'x-csrf': csrf, 'content-type': type, body } = right;
  expect(await ask({})).toBe('host.invalid');
  expect(await ask({ host })).toBe('origin.invalid');
  expect(await ask({ host, origin })).toBe('session.expired');
  expect(await ask({ host, origin, cookie })).toBe('csrf.invalid');
  const nobody = panel.client();
  await nobody.session();
  const anonymous = { cookie: nobody.cookieHeader, 'x-csrf': nobody.csrf };
  expect(await ask({ host, origin, ...anonymous })).toBe('session.missing');
  expect(await ask({ host, origin, cookie, 'x-csrf': csrf })).toBe('permission.missing');
  const asOwner = { host, origin, cookie: owner.cookieHeader, 'x-csrf': owner.csrf };
  expect(await ask(asOwner)).toBe('body.type');
  expect(await ask({ ...asOwner, 'content-type': type })).toBe('body.malformed');
  expect(await ask({ ...asOwner, 'content-type': type, body })).toBe('users.unknown');
});

describe('the token of a POST', () => {
  const logout = (client: PanelClient, headers: Record<string, string>) =>
    client.raw({ method: 'POST', path: '/api/logout', headers: { ...JSON_TYPE, ...headers }, body: '{}' });

  it.each([
    ['is missing', (): Record<string, string> => ({})],
    ['is that of another session', () => ({ 'x-csrf': viewer.csrf })],
    [
      'is that of another session, with its cookie',
      () => ({
        'x-csrf': viewer.csrf,
        cookie: `panel-session=${owner.cookies.get('panel-session')}; panel-csrf=${viewer.cookies.get('panel-csrf')}`,
      }),
    ],
    [
      'comes without its cookie',
      () => ({
        'x-csrf': owner.csrf,
        cookie: `panel-session=${owner.cookies.get('panel-session')}`,
      }),
    ],
    [
      'comes with two cookies of that name',
      () => ({
        'x-csrf': owner.csrf,
        cookie: `${owner.cookieHeader}; panel-csrf=${'A'.repeat(43)}`,
      }),
    ],
  ])('that %s is refused', async (_what, headers) => {
    expect(await logout(owner, headers())).toMatchObject({ status: 400, body: { ok: false, error: 'csrf.invalid' } });
    expect(await owner.session()).toMatchObject({ authenticated: true });
  });

  it('from before the sign-in is stale after it', async () => {
    const client = panel.client();
    await client.session();
    const before = client.csrf;
    await client.login('viewer', PASSWORD);
    expect(client.csrf).not.toBe(before);
    expect((await logout(client, { 'x-csrf': before })).body).toMatchObject({ error: 'csrf.invalid' });
    expect((await client.post('/api/logout')).status).toBe(200);
  });

  it('for no cookie at all does not count, though anybody can reckon it out', async () => {
    const body = JSON.stringify({ username: 'owner', password: PASSWORD });
    for (const cookie of ['', 'panel-csrf=', 'panel-csrf=short']) {
      const value = cookie.split('=')[1] ?? '';
      const headers = { ...JSON_TYPE, 'x-csrf': csrfToken(value, ''), ...(cookie === '' ? {} : { cookie }) };
      const answer = await panel.client().raw({ method: 'POST', path: '/api/login', headers, body });
      expect(answer.body).toMatchObject({ error: 'csrf.invalid' });
    }
  });

  it('is asked of the sign-in too', async () => {
    const client = panel.client();
    const body = JSON.stringify({ username: 'owner', password: PASSWORD });
    const answer = await client.raw({ method: 'POST', path: '/api/login', headers: JSON_TYPE, body });
    expect(answer).toMatchObject({ status: 400, body: { error: 'csrf.invalid' } });
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('a body', () => {
  const post = (headers: Record<string, string>, body: string | Buffer) =>
    owner.raw({ method: 'POST', path: save, headers: { 'x-csrf': owner.csrf, ...headers }, body });

  it.each([
    ['text/plain', '{"username":"x"}'],
    ['application/x-www-form-urlencoded', '{"username":"x"}'],
    ['multipart/form-data; boundary=x', '{"username":"x"}'],
    ['application/json; charset=latin1', '{"username":"x"}'],
    ['application/jsonp', '{"username":"x"}'],
    ['application/json, text/plain', '{"username":"x"}'],
  ])('of the type %s is refused', async (type, body) => {
    expect(await post({ 'content-type': type }, body)).toMatchObject({ status: 415, body: { error: 'body.type' } });
  });

  it('without a type, or packed, is refused', async () => {
    expect((await post({}, '{}')).body).toMatchObject({ error: 'body.type' });
    expect((await post({}, '')).body).toMatchObject({ error: 'body.type' });
    expect((await post({ ...JSON_TYPE, 'content-encoding': 'gzip' }, 'x')).body).toMatchObject({ error: 'body.type' });
  });

  it.each([
    ['that is no JSON', '{"username":'],
    ['that is empty', ''],
    ['that is a list', '[]'],
    ['that is null', 'null'],
    ['with a property twice', '{"username":"x","username":"y"}'],
    ['with a property twice, escaped, below', '{"username":{"a":null,"\\u0061":1}}'],
    ['that reaches for prototypes', '{"username":"x","__proto__":{"create":true}}'],
    ['that is nested without end', '['.repeat(100_000)],
    ['that is no UTF-8', Buffer.from('{"username":"\xff"}', 'latin1')],
  ])('%s is refused', async (_what, body) => {
    expect(await post(JSON_TYPE, body)).toMatchObject({ status: 400, body: { ok: false, error: 'body.malformed' } });
  });

  it('of more than 1 MiB is refused, announced or not', async () => {
    const large = `{"username":"${'x'.repeat(1024 * 1024)}"}`;
    for (const headers of [JSON_TYPE, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }]) {
      expect(await post(headers, large)).toMatchObject({ status: 413, body: { ok: false, error: 'body.large' } });
    }
  });

  it('of strangers, too large ones at once, are refused, and hold up nobody who has signed in or wants to', async () => {
    const nobody = panel.client();
    await nobody.session();
    const head = [
      ...['POST /api/login HTTP/1.1', `Host: ${host}`, `Cookie: ${nobody.cookieHeader}`, `X-CSRF: ${nobody.csrf}`],
      ...['Content-Type: application/json', `Content-Length: ${1024 * 1024}`],
    ].join('\r\n');
    const most = 'x'.repeat(1024 * 1024 - 1);
    const slow = Array.from({ length: 17 }, () => converse(panel.address, `${head}\r\n\r\n${most}`));
    const refused = await Promise.any(slow.map(({ seen }) => seen('HTTP/1.1 ')));
    expect(refused).toContain('"rate.limited"');
    expect((await post(JSON_TYPE, '{"username":"nobody"}')).body).toMatchObject({ error: 'users.unknown' });
    expect((await panel.client().login('viewer', PASSWORD)).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });

  it('that comes slowly counts for nothing where the right to send it is gone by then', async () => {
    const slow = await panel.account('slow', ['settings.write']);
    const body = '{"dashboardName":"Taken over"}';
    const head = [
      ...['POST /api/settings HTTP/1.1', `Host: ${host}`, `Cookie: ${slow.cookieHeader}`, `X-CSRF: ${slow.csrf}`],
      ...['Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue'],
    ].join('\r\n');
    const begin = async () => {
      const talk = converse(panel.address, `${head}\r\n\r\n`);
      await talk.seen('100 Continue');
      return talk;
    };
    const talks = [await begin(), await begin()] as const;
    await owner.post(save, { username: 'slow', permissions: ['settings.write', 'console.read'] });
    talks[0].socket.write(body.replace('Taken over', 'Still mine'));
    expect(await talks[0].seen('{"ok":')).toContain('{"ok":true}');
    await owner.post(save, { username: 'slow', permissions: ['console.read'] });
    talks[1].socket.write(body);
    expect(await talks[1].seen('{"ok":')).toMatch(/403 .*"permission\.missing"/s);
    expect((await owner.get('/api/bootstrap')).body.dashboardName).toBe('Still mine');
    for (const { socket } of talks) socket.destroy();
  });

  it('may be left out, with its type, where a route takes none', async () => {
    const client = panel.client();
    await client.login('viewer', PASSWORD);
    const answer = await client.raw({ method: 'POST', path: '/api/logout', headers: { 'x-csrf': client.csrf } });
    expect(answer.status).toBe(200);
  });

  it('of just 1 MiB is read', async () => {
    const rest = '{"username":""}'.length;
    const answer = await post(JSON_TYPE, `{"username":"${'x'.repeat(1024 * 1024 - rest)}"}`);
    expect(answer.body).toMatchObject({ error: 'users.username' });
  });
});

describe('what is not there', () => {
  it.each([
    ['GET', '/api', 404, 'route.unknown'],
    ['GET', '/api/nowhere', 404, 'route.unknown'],
    ['GET', '/api/users/', 404, 'route.unknown'],
    ['GET', '/API/users', 404, 'route.unknown'],
    ['GET', '/api/users/%', 404, 'route.unknown'],
    ['GET', '/api/%2e%2e/users', 404, 'route.unknown'],
    ['GET', '/api/users/%ff/access', 404, 'route.unknown'],
    ['POST', `/api/bundles/${'a'.repeat(300)}/start`, 404, 'route.unknown'],
    ['POST', '/api/updates/undo', 404, 'route.unknown'],
    ['POST', '/v1/find', 404, 'route.unknown'],
    ['GET', '/metrics', 404, 'route.unknown'],
    ['PUT', '/api/users/save', 405, 'method.unknown'],
    ['GET', '/api/users/save', 405, 'method.unknown'],
    ['HEAD', '/api/users', 405, undefined],
    ['OPTIONS', '/api/users', 405, 'method.unknown'],
  ])('%s %s: %i', async (method, path, status, error) => {
    const answer = await owner.raw({ method, path });
    expect(answer.status).toBe(status);
    if (error !== undefined) expect(answer.body).toEqual({ ok: false, error });
    if (status === 405) expect(answer.headers.allow).toMatch(/^(GET|POST)$/);
  });

  it('is not at the port of the API either', async () => {
    for (const path of ['/api/session', '/api/users', '/']) {
      const answer = await fetch(`${panel.apiAddress}${path}`);
      expect(answer.status).toBe(404);
    }
  });

  it('answers what is no HTTP in the same words', async () => {
    expect(await converse(panel.address, 'nonsense\r\n\r\n').closed).toContain('{"ok":false,"error":"body.malformed"}');
  });
});

it('has the headers of safety on every answer', async () => {
  const answers = [
    await owner.get('/api/users'),
    await owner.get('/api/nowhere'),
    await owner.post(save, {}),
    await owner.raw({ path: '/', headers: { host: 'evil.example' } }),
  ];
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).not.toContain('unsafe-inline');
  }
});

it('says no secret in its log or its audit', async () => {
  const client = panel.client();
  await client.login('viewer', 'wrong-password-marker');
  await client.login('password-typed-as-name', PASSWORD);
  await client.login('viewer', PASSWORD);
  const token = client.cookies.get('panel-session') as string;
  await owner.post(save, { username: 'viewer', password: 'a new password marker' });
  await owner.post(save, { username: 'body-marker!', password: 'x' });
  const audit = (await owner.get('/api/audit')).text;
  const written = panel.log.join('\n');
  for (const secret of [PASSWORD, token, client.csrf, 'wrong-password-marker', 'a new password marker']) {
    expect(written).not.toContain(secret);
    expect(audit).not.toContain(secret);
  }
  expect(audit).not.toContain('password-typed-as-name');
  expect(written).not.toContain('body-marker');
  // Both hold something: of requests at least those that had a line of their own in their second.
  expect(written).toContain('"panel request"');
  expect(audit).toContain('"login.failed"');
});
