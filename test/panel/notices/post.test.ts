import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AllowedHosts } from '#panel/notices/delivery/allowed-hosts.ts';
import { post, type Resolve } from '#panel/notices/delivery/post.ts';
import { endCertificate, makeCertificate } from '#support/certificate.ts';
import { testFolder } from '#support/test-folder.ts';
import { NoticeReceiver } from '../support/notice-receiver.ts';

/** A try at a real server over TLS, with a resolver that the test answers for. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const OWN = new AllowedHosts(['hooks.example', '127.0.0.1']);
const BODY = '{"event":"test"}';
let receiver: NoticeReceiver;

beforeAll(async () => {
  receiver = await NoticeReceiver.start();
});

afterAll(() => receiver.stop());

beforeEach(() => {
  receiver.received.length = 0;
  receiver.answers.length = 0;
});

interface Change {
  readonly url?: string;
  readonly authorities?: string | null;
  readonly hosts?: AllowedHosts;
  readonly addresses?: readonly string[];
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
}

function send({
  url = receiver.url(),
  authorities = receiver.ca,
  hosts = OWN,
  addresses = ['127.0.0.1'],
  resolve = async () => addresses,
  timeoutMs = 10_000,
}: Change = {}) {
  return post({
    ...{ url: new URL(url), body: BODY, headers: { 'x-event': 'test' }, authorities, hosts },
    ...{ secret: 'the-secret-of-the-owner', signal: new AbortController().signal, resolve, timeoutMs },
  });
}

describe('a try', () => {
  it('is delivered by any 2xx, with body and headers as they are', async () => {
    receiver.answers.push({ status: 202, text: 'taken' });
    const result = await send();
    expect(result).toMatchObject({ delivered: true, status: 202, answer: 'taken', error: null });
    expect(receiver.received).toMatchObject([
      {
        text: BODY,
        path: '/hook/of-a-secret-token',
        headers: { 'x-event': 'test', 'content-type': 'application/json' },
      },
    ]);
  });

  it('asks no proxy, also if Node.js was started with one', async () => {
    let asked = 0;
    const proxy = createServer((socket) => {
      asked += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const sending = `
      const { AllowedHosts } = await import('#panel/notices/delivery/allowed-hosts.ts');
      const { post } = await import('#panel/notices/delivery/post.ts');
      const { url, authorities } = JSON.parse(process.env.TRY);
      const { delivered } = await post({ url: new URL(url), body: '{}', headers: {}, authorities, secret: 'x',
        hosts: new AllowedHosts(['127.0.0.1']), resolve: async () => ['127.0.0.1'],
        signal: new AbortController().signal, timeoutMs: 10_000 });
      console.log(delivered);`;
    const address = `http://127.0.0.1:${port}`;
    const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: address, https_proxy: address };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', sending], {
      cwd: ROOT,
      env: {
        ...env,
        NO_PROXY: '',
        no_proxy: '',
        TRY: JSON.stringify({ url: receiver.url(), authorities: receiver.ca }),
      },
    });
    proxy.close();
    expect([stdout.trim(), asked]).toEqual(['true', 0]);
  });

  it('follows no redirect', async () => {
    receiver.answers.push({ status: 307, headers: { location: receiver.url('/elsewhere') } });
    expect(await send()).toMatchObject({ delivered: false, status: 307, error: 'redirect' });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['seconds of the header', { 'retry-after': '7' }, '', 7000],
    ["Discord's seconds", {}, '{"message":"limited","retry_after":1.5}', 1500],
    ['at most an hour', { 'retry-after': '864000' }, '', 3_600_000],
    ['nothing', {}, 'later', null],
  ])('knows when to come again: %s', async (_, headers, text, retryAfterMs) => {
    receiver.answers.push({ status: 429, headers, text });
    expect(await send()).toMatchObject({ status: 429, error: 'status', retryAfterMs });
  });

  it('knows the date on which to come again', async () => {
    const at = new Date(Date.now() + 120_000).toUTCString();
    receiver.answers.push({ status: 503, headers: { 'retry-after': at } });
    const { retryAfterMs } = await send();
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(120_000);
  });

  it('waits no longer than its limit for a name or an answer', async () => {
    const late = { delivered: false, status: null, error: 'timeout' };
    const url = receiver.url('/', 'hooks.example');
    expect(await send({ url, resolve: () => new Promise(() => {}), timeoutMs: 50 })).toMatchObject(late);
    receiver.answers.push({ status: 200, isSilent: true });
    expect(await send({ timeoutMs: 500 })).toMatchObject(late);
  });

  it('is judged by its status, also if the answer never ends', async () => {
    receiver.answers.push({ status: 200, text: 'taken '.repeat(10_000), isSilent: true });
    const { answer, ...result } = await send();
    expect(result).toMatchObject({ delivered: true, status: 200 });
    expect(answer).toMatch(/^(taken ){83}ta$/);
  });

  it('trusts no certificate that has ended, though its owner is known', async () => {
    const old = await NoticeReceiver.start(endCertificate(makeCertificate(testFolder())));
    try {
      expect(await send({ url: old.url(), authorities: old.ca })).toMatchObject({ status: null, error: 'tls' });
      expect(old.received).toEqual([]);
    } finally {
      await old.stop();
    }
  });

  it('shows no secret that the other side repeats', async () => {
    const said = 'no hook of-a-secret-token at /hook/of-a-secret-token?key=query-secret; the-secret-of-the-owner';
    receiver.answers.push({ status: 404, text: said });
    const { answer } = await send({ url: `${receiver.url()}?key=query-secret` });
    expect(answer).toBe('no hook … at …; …');
    receiver.answers.push({ status: 500, text: 'x'.repeat(100_000) });
    expect((await send()).answer).toHaveLength(500);
  });

  it.each([
    ['an authority that has not signed it', { authorities: null }, 'tls'],
    ['another name than that of the certificate', { url: 'https://hooks.example', addresses: ['127.0.0.1'] }, 'tls'],
    ['a port where nobody is', { url: 'https://127.0.0.1:1' }, 'connect'],
    ['a name that leads nowhere', { url: 'https://nowhere.example', addresses: [] }, 'dns'],
  ] as const)('ends with %s', async (_, change, error) => {
    const url =
      'url' in change && change.url === 'https://hooks.example' ? receiver.url('/', 'hooks.example') : undefined;
    expect(await send({ ...change, ...(url === undefined ? {} : { url }) })).toMatchObject({
      delivered: false,
      status: null,
      answer: '',
      error,
    });
    expect(receiver.received).toEqual([]);
  });
});

describe('a name', () => {
  it('that leads into a private network is not connected to', async () => {
    const hosts = new AllowedHosts([]);
    const url = receiver.url('/', 'hooks.example');
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '::1',
      '::ffff:127.0.0.1',
      'fd00::1',
      '64:ff9b::7f00:1',
    ]) {
      expect(await send({ url, hosts, addresses: [address] }), address).toMatchObject({ error: 'private' });
    }
    expect(receiver.received).toEqual([]);
  });

  it('is resolved once a try: the address that was judged is the one that is connected to', async () => {
    let asked = 0;
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const { error } = await post({
      ...{
        url: new URL(receiver.url('/', 'hooks.example')),
        body: BODY,
        headers: {},
        authorities: receiver.ca,
        secret: '',
      },
      ...{ hosts: new AllowedHosts([]), signal: AbortSignal.timeout(300) },
      resolve: async () => {
        asked += 1;
        return answers[asked - 1] ?? [];
      },
    });
    expect(error).toBe('connect');
    expect(asked).toBe(1);
    expect(receiver.received).toEqual([]);
  });

  it('that the owner lists is reached', async () => {
    const url = receiver.url('/', 'localhost');
    expect(await send({ url, hosts: new AllowedHosts(['LOCALHOST']) })).toMatchObject({ delivered: true });
    expect(await send({ url, hosts: new AllowedHosts(['127.0.0.0/8']) })).toMatchObject({ delivered: true });
    expect(await send({ url, hosts: new AllowedHosts(['10.0.0.0/8', 'other.example']) })).toMatchObject({
      error: 'private',
    });
  });
});

describe('an address at saving', () => {
  const hosts = new AllowedHosts([]);

  it.each([
    'https://127.0.0.1/x',
    'https://127.1/x',
    'https://2130706433/x',
    'https://0x7f000001/x',
    'https://0177.0.0.1/x',
    'https://127.0.0.1./x',
    'https://0.0.0.0/x',
    'https://localhost/x',
    'https://LOCALHOST./x',
    'https://panel.localhost/x',
    'https://10.0.0.1/x',
    'https://172.16.0.1/x',
    'https://192.168.1.1/x',
    'https://169.254.169.254/latest',
    'https://100.64.0.1/x',
    'https://192.0.2.1/x',
    'https://224.0.0.1/x',
    'https://255.255.255.255/x',
    'https://[::1]/x',
    'https://[::]/x',
    'https://[::ffff:10.0.0.1]/x',
    'https://[::10.0.0.1]/x',
    'https://[64:ff9b::10.0.0.1]/x',
    'https://[2002:0a00:0001::]/x',
    'https://[2001:0::1]/x',
    'https://[fe80::1]/x',
    'https://[fd12::1]/x',
    'https://[ff02::1]/x',
    'http://example.org/x',
    'ftp://example.org/x',
    'https://user@example.org/x',
    'https://user:word@example.org/x',
    'https://',
    'example.org',
  ])('is refused: %s', (url) => {
    expect(() => hosts.originOf(url)).toThrow();
  });

  it.each([
    ['https://example.org/x?y', 'https://example.org'],
    ['https://93.184.216.34:8443/x', 'https://93.184.216.34:8443'],
    ['https://[2606:2800:220:1::1]/x', 'https://[2606:2800:220:1::1]'],
  ])('has an origin: %s', (url, origin) => {
    expect(hosts.originOf(url)).toBe(origin);
  });

  it('may be private if the owner lists it', () => {
    expect(new AllowedHosts(['10.0.0.0/8']).originOf('https://10.1.2.3/x')).toBe('https://10.1.2.3');
    expect(new AllowedHosts(['localhost']).originOf('https://localhost/x')).toBe('https://localhost');
    expect(new AllowedHosts(['127.0.0.0/8']).originOf('https://localhost/x')).toBe('https://localhost');
    expect(new AllowedHosts(['::1']).originOf('https://[::1]/x')).toBe('https://[::1]');
  });
});
