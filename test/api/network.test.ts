import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Certificate, makeCertificate } from '../support/certificate.ts';
import { type ConfigChanges, keyOf, secretOf } from '../support/config-folder.ts';
import { testFolder } from '../support/test-folder.ts';

const PAYLOAD = { namespace: 'game', table: 'things' };
let folder: string;
let api: TestApi | null = null;
beforeEach(() => {
  folder = testFolder();
});
afterEach(async () => {
  await api?.stop();
  api = null;
});

async function start(config: ConfigChanges): Promise<TestApi> {
  api = await startTestApi({ folder, config });
  return api;
}

async function callWith(target: TestApi, headers: Record<string, string>, operation = 'find') {
  const client = target.client.with({ headers });
  try {
    return await client.call(operation, PAYLOAD);
  } finally {
    await client.close();
  }
}

describe('behind proxies', () => {
  const trustedProxies = ['127.0.0.1/32', '10.0.0.0/8', '2001:db8:aaaa::/48'];
  const rows: [string, string | undefined, string][] = [
    ['none', undefined, '127.0.0.1'],
    ['one', '203.0.113.9', '203.0.113.9'],
    ['the rightmost that is not trusted', '198.51.100.1, 203.0.113.9, 10.1.2.3, 10.9.9.9', '203.0.113.9'],
    ['what a client put before it does not count', 'garbage, 127.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['all trusted: the first', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
    ['IPv6', '2001:DB8:0:0::1, 2001:db8:aaaa::7', '2001:db8::1'],
    ['IPv4 in IPv6', '::ffff:203.0.113.9', '203.0.113.9'],
  ];
  for (const [what, forwarded, address] of rows) {
    it(`X-Forwarded-For, ${what}`, async () => {
      const target = await start({ api: { trustedProxies, requireHttps: 'never' } });
      const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
      expect((await callWith(target, headers)).httpStatus).toBe(200);
      expect(JSON.parse(target.log.at(-1) as string)).toMatchObject({ op: 'find', address });
    });
  }

  for (const forwarded of [
    'unknown',
    '',
    '203.0.113.9:1234',
    '1.2.3',
    '0x7f.0.0.1',
    '203.0.113.9, x',
    '203.0.113.9,',
  ]) {
    it(`X-Forwarded-For ${JSON.stringify(forwarded)} is 400`, async () => {
      const target = await start({ api: { trustedProxies, requireHttps: 'never' } });
      expect(await callWith(target, { 'x-forwarded-for': forwarded })).toMatchObject({
        httpStatus: 400,
        code: 'invalid_request',
      });
      expect(target.calls).toEqual([]);
    });
  }

  it('nobody else is believed', async () => {
    const keys = [keyOf('local', { addresses: ['203.0.113.0/24'] })];
    const target = await start({ keys, api: { requireHttps: 'always' } });
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
    expect((await callWith(target, headers)).code).toBe('https_required');
    expect(target.calls).toEqual([]);
  });

  it('the address of a key is that of the client, not of the proxy', async () => {
    const keys = [keyOf('local', { addresses: ['203.0.113.0/24'] })];
    const target = await start({ keys, api: { trustedProxies, requireHttps: 'never' } });
    expect((await callWith(target, { 'x-forwarded-for': '203.0.113.9' })).httpStatus).toBe(200);
    expect((await callWith(target, { 'x-forwarded-for': '203.0.114.9' })).httpStatus).toBe(401);
    expect((await callWith(target, {})).httpStatus).toBe(401);
    expect(target.calls).toHaveLength(1);
  });
});

describe('HTTPS rules', () => {
  const proxy = { trustedProxies: ['127.0.0.1'] };
  const rows: [string, Record<string, string>, number][] = [
    ['non-loopback', {}, 200],
    ['non-loopback', { 'x-forwarded-for': '203.0.113.9' }, 403],
    ['non-loopback', { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' }, 403],
    ['non-loopback', { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }, 200],
    ['non-loopback', { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https, http' }, 403],
    ['non-loopback', { 'x-forwarded-for': '127.9.9.9' }, 200],
    ['always', {}, 403],
    ['always', { 'x-forwarded-proto': 'https' }, 200],
    ['never', { 'x-forwarded-for': '203.0.113.9' }, 200],
  ];
  for (const [requireHttps, headers, status] of rows) {
    it(`${requireHttps} with ${JSON.stringify(headers)} is ${status}`, async () => {
      const target = await start({ api: { ...proxy, requireHttps } });
      const answer = await callWith(target, headers);
      expect(answer.httpStatus).toBe(status);
      if (status === 403) expect(answer).toMatchObject({ code: 'https_required', isSigned: false });
      expect(target.calls).toHaveLength(status === 200 ? 1 : 0);
    });
  }

  it('probes are exempt; metrics are for loopback clients, and elsewhere there are none', async () => {
    const target = await start({ api: { ...proxy, requireHttps: 'always' } });
    const outside = target.client.with({ headers: { 'x-forwarded-for': '203.0.113.9' } });
    for (const path of ['/v1/health', '/healthz', '/readyz']) expect((await outside.get(path)).status).toBe(200);
    expect(await outside.get('/metrics')).toMatchObject({ status: 404 });
    expect((await outside.raw('POST', '/metrics', null, {})).status).toBe(404);
    expect(await target.client.get('/metrics')).toMatchObject({ status: 200 });
    await outside.close();
  });

  for (const [metrics, own, others] of [
    ['all', 200, 200],
    ['none', 404, 404],
  ] as const) {
    it(`metrics ${metrics}`, async () => {
      const target = await start({ api: { ...proxy, metrics, requireHttps: 'always' } });
      const outside = target.client.with({ headers: { 'x-forwarded-for': '203.0.113.9' } });
      expect((await target.client.get('/metrics')).status).toBe(own);
      expect((await outside.get('/metrics')).status).toBe(others);
      await outside.close();
    });
  }
});

describe('TLS', () => {
  it('serves HTTPS, which satisfies every rule', async () => {
    const { certFile, keyFile, ca } = makeCertificate(folder);
    const target = await start({ api: { tls: { certFile, keyFile }, requireHttps: 'always' } });
    expect(target.address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const client = target.client.with({ ca });
    expect(await client.call('find', PAYLOAD)).toMatchObject({ httpStatus: 200, isVerified: true });
    expect((await client.get('/readyz')).status).toBe(200);
    await client.close();
    await expect(target.client.call('find', PAYLOAD)).rejects.toThrow();
    expect(target.calls).toHaveLength(1);
  });

  describe('a file that cannot be used is refused with the configuration, the field and what to do:', () => {
    let pair: Certificate;
    let other: Certificate;
    beforeAll(() => {
      pair = makeCertificate(testFolder());
      other = makeCertificate(testFolder());
    });
    const certFile = (content: () => string | Buffer, line: string) => ['certFile', content, line] as const;
    const keyFile = (content: () => string | Buffer, line: string) => ['keyFile', content, line] as const;
    const text = (file: string) => readFileSync(file, 'utf8');
    const encrypted = () =>
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
        ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
      });
    it.each([
      certFile(() => '', 'expected a certificate (-----BEGIN CERTIFICATE-----), got nothing in FILE: name the file'),
      certFile(() => 'hello', 'got another content in FILE: name the file of the certificate, in PEM'),
      certFile(() => text(pair.keyFile), 'got a private key in FILE: name the file of the certificate, in PEM'),
      certFile(() => new X509Certificate(pair.ca).raw, 'got another form than PEM in FILE'),
      certFile(() => pair.ca.replace(/\n.{20}/, '\n'), 'the certificate in FILE is damaged: copy the file again'),
      certFile(() => `${other.ca}${pair.ca}`, 'got it as number 2 in FILE: move it to the top of the file'),
      certFile(() => Buffer.alloc(5_000_000), 'expected a file of at most 4194304 bytes, got 5000000 in FILE'),
      keyFile(() => pair.ca, 'expected a private key (-----BEGIN PRIVATE KEY-----), got a certificate in FILE'),
      keyFile(() => text(other.keyFile), 'got another one in FILE: name the two files that belong together'),
      keyFile(encrypted, 'expected a key without a passphrase, got an encrypted one in FILE: openssl pkey -in FILE'),
    ])('%s: %#', async (field, content, line) => {
      const file = join(folder, 'wrong.pem');
      writeFileSync(file, content());
      const starting = start({ api: { tls: { certFile: pair.certFile, keyFile: pair.keyFile, [field]: file } } });
      const message = await starting.then(
        () => 'it has started',
        (error: Error) => error.message,
      );
      expect(message.startsWith(`${join(folder, 'sidecar.json')}: api.tls.${field}: `)).toBe(true);
      expect(message.replaceAll(file, 'FILE')).toContain(line);
    });

    it.each([
      [
        'nowhere.pem',
        /api\.tls\.keyFile: the file .*nowhere\.pem does not exist: put it there, or name the right one$/,
      ],
      ['.', /api\.tls\.keyFile: \S+ is a folder, not a file: name a file in it$/],
      ['wrong.pem/key.pem', /api\.tls\.keyFile: the file .*key\.pem does not exist: put it there/],
    ])('keyFile: %s', async (file, line) => {
      const { certFile } = pair;
      await expect(start({ api: { tls: { certFile, keyFile: file } } })).rejects.toThrow(line);
    });

    it('takes a chain with the own certificate first', async () => {
      const { ca, ...files } = pair;
      writeFileSync(join(folder, 'chain.pem'), `# two of them\r\n${ca}${other.ca}`);
      const target = await start({ api: { tls: { ...files, certFile: 'chain.pem' } } });
      expect(target.address).toMatch(/^https:/);
    });
  });
});

describe('a Unix socket', () => {
  const onSocket = () => ({ api: { socketPath: 'run.sock', requireHttps: 'non-loopback' } });

  it('serves there and nowhere else, for its own user, as a loopback client', async () => {
    const path = join(folder, 'run.sock');
    const keys = [keyOf('local', { addresses: ['127.0.0.1'] })];
    const target = await start({ ...onSocket(), keys });
    expect(target.address).toBe(`unix:${path}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(await target.client.call('find', PAYLOAD)).toMatchObject({ httpStatus: 200, isVerified: true });
    expect((await target.client.get('/metrics')).status).toBe(200);
    expect(JSON.parse(target.log[0] as string)).toMatchObject({ address: 'socket' });
    await target.stop();
    api = null;
    expect(existsSync(path)).toBe(false);
  });

  it('locks out a wrong secret under its key alone', async () => {
    const target = await start({
      ...onSocket(),
      keys: [keyOf('local'), keyOf('second')],
      limits: { authFailuresPerMinute: 2 },
    });
    const wrong = target.clientOf('local', secretOf('other'));
    expect((await wrong.call('find', PAYLOAD)).httpStatus).toBe(401);
    expect((await wrong.call('find', PAYLOAD)).httpStatus).toBe(401);
    expect((await wrong.call('find', PAYLOAD)).httpStatus).toBe(429);
    expect((await target.clientOf('second').call('find', PAYLOAD)).httpStatus).toBe(200);
  });

  it('takes the place of a dead one', async () => {
    const path = join(folder, 'run.sock');
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(path, resolve));
    // Closed without unlinking, as by a kill: the name stays when the descriptor goes.
    linkSync(path, join(folder, 'second.sock'));
    await new Promise((resolve) => dead.close(resolve));
    linkSync(join(folder, 'second.sock'), path);
    const target = await start(onSocket());
    expect((await target.client.call('find', PAYLOAD)).httpStatus).toBe(200);
  });

  it('leaves a live one, or a file that is none, alone', async () => {
    const path = join(folder, 'run.sock');
    writeFileSync(path, 'precious');
    await expect(start(onSocket())).rejects.toThrow('is not a socket');
    expect(statSync(path).size).toBe(8);
    rmSync(path);
    const alive = createServer();
    await new Promise<void>((resolve) => alive.listen(path, resolve));
    await expect(start(onSocket())).rejects.toThrow('another program listens');
    expect(existsSync(path)).toBe(true);
    await new Promise((resolve) => alive.close(resolve));
  });
});
