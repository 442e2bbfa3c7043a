import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { provideNginx } from '#scripts/servers/debian-program.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { makeCertificate } from '#support/certificate.ts';
import { describeIf } from '#support/describe-if.ts';
import { type RunningNginx, startNginx } from '#support/nginx.ts';
import { EventReader, PASSWORD, startTestPanel, type TestPanel } from '../support/panel.ts';

const DOCUMENTATION = new URL('../../../docs/panel-remote.md', import.meta.url);
const NAME = 'panel.example.org';

const why = await provideNginx(() => {}).then(
  () => null,
  (error: Error) => error.message,
);

/** The very example that owners copy; only the certificate and the two ports are this test's. */
function example(port: number, panel: string, folder: string): string {
  const block = /```nginx\n([\s\S]*?)```/.exec(readFileSync(DOCUMENTATION, 'utf8'))?.[1] ?? '';
  const { certFile, keyFile } = makeCertificate(folder);
  const changes: [string, string][] = [
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    [`/etc/letsencrypt/live/${NAME}/fullchain.pem`, certFile],
    [`/etc/letsencrypt/live/${NAME}/privkey.pem`, keyFile],
    ['http://127.0.0.1:20772', panel],
  ];
  return changes.reduce((text, [from, to]) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  }, block);
}

describeIf(why, 'the panel behind a real nginx', () => {
  let panel: TestPanel;
  let nginx: RunningNginx;
  let port: number;

  beforeAll(async () => {
    panel = await startTestPanel({
      config: { panel: { publicUrl: `https://${NAME}`, trustedProxies: ['127.0.0.1/32'] } },
    });
    port = await freePort();
    const server = example(port, panel.address, panel.folder);
    nginx = await startNginx(await provideNginx(() => {}), join(panel.folder, 'nginx'), server, port);
  });

  afterAll(async () => {
    await nginx.stop();
    await panel.stop();
  });

  interface Seen {
    readonly status: number;
    readonly cookies: readonly string[];
    readonly body: Record<string, unknown>;
  }

  /** As a browser on `https://panel.example.org`. */
  function ask(method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<Seen> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path, rejectUnauthorized: false, agent: false };
      const sent = request({ ...options, headers: { host: NAME, ...headers } }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            cookies: response.headers['set-cookie'] ?? [],
            body: JSON.parse(text) as Record<string, unknown>,
          }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async function signIn(headers: Record<string, string> = {}, password = PASSWORD): Promise<Seen> {
    const first = await ask('GET', '/api/session');
    const own = { cookie: cookieOf(first), 'x-csrf': String(first.body.csrf), 'content-type': 'application/json' };
    return ask('POST', '/api/login', { ...own, ...headers }, JSON.stringify({ username: 'owner', password }));
  }

  const cookieOf = ({ cookies }: Seen) => cookies.map((one) => one.split(';')[0]).join('; ');

  it('signs in, with cookies that HTTPS alone carries', async () => {
    await panel.owner();
    const seen = await signIn({ origin: `https://${NAME}` });
    expect(seen).toMatchObject({ status: 200, body: { ok: true } });
    expect(seen.cookies.find((cookie) => cookie.startsWith('panel-session='))).toMatch(/; Secure/);
  });

  it('refuses a page of another site, also the same name without HTTPS', async () => {
    expect((await signIn({ origin: `http://${NAME}` })).body.error).toBe('origin.invalid');
    expect((await signIn({ origin: 'https://evil.example' })).body.error).toBe('origin.invalid');
  });

  it('knows the caller from nginx, and believes nothing that the caller says of himself', async () => {
    const owner = await panel.owner();
    await signIn({ 'x-forwarded-for': '203.0.113.9' }, 'wrong password, twelve');
    const { body } = await owner.get('/api/audit');
    const [last] = (body as { entries: { action: string; address: string; result: string }[] }).entries.filter(
      (entry) => entry.action === 'login' && entry.result !== 'ok',
    );
    expect(last?.address).toBe('127.0.0.1');
  });

  it('hands on the console line by line, each at once', async () => {
    const client = { address: `https://127.0.0.1:${port}`, cookieHeader: cookieOf(await signIn()) };
    const stream = await new EventReader().open(client, '', { host: NAME });
    try {
      await expect.poll(() => stream.of('permissions')).toHaveLength(1);
      const lines = ['first', 'second', 'third'];
      for (const [index, text] of lines.entries()) {
        panel.services.logs.console.append('out', text);
        // The next one is not there yet: nothing but this line itself can have pushed it through.
        await expect.poll(() => stream.of('console')).toHaveLength(index + 1);
      }
      expect(stream.of('console')).toMatchObject(lines.map((text) => ({ text })));
    } finally {
      stream.close();
    }
  });

  it('takes what is posted, also what is large, and leaves it to the panel what is too large', async () => {
    const session = cookieOf(await signIn());
    const fresh = await ask('GET', '/api/session', { cookie: session });
    const own = { cookie: `${session}; ${cookieOf(fresh)}`, 'x-csrf': String(fresh.body.csrf) };
    const post = (path: string, body: unknown) =>
      ask('POST', path, { ...own, 'content-type': 'application/json' }, JSON.stringify(body));
    expect(await post('/api/settings', { dashboardName: 'Harbour' })).toMatchObject({
      status: 200,
      body: { ok: true },
    });
    const filter = (length: number) => ({ namespace: 'game', table: 'none', filter: ' '.repeat(length) });
    // Beyond what nginx keeps in memory.
    expect((await post('/api/database/rows', filter(1_000_000))).body.error).toMatch(/^database\./);
    expect(await post('/api/database/rows', filter(1_100_000))).toMatchObject({
      status: 413,
      body: { error: 'body.large' },
    });
  });

  it('refuses other names', async () => {
    expect((await ask('GET', '/api/session', { host: 'evil.example' })).body.error).toBe('host.invalid');
  });
});
