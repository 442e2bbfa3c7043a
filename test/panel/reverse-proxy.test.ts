import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../scripts/servers/free-port.ts';
import { provideNginx } from '../../scripts/servers/nginx-program.ts';
import { makeCertificate } from '../support/certificate.ts';
import { type RunningNginx, startNginx } from '../support/nginx.ts';
import { PASSWORD, startTestPanel, type TestPanel } from './support/panel.ts';

const DOCUMENTATION = new URL('../../docs/panel-remote.md', import.meta.url);
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

describe.skipIf(why !== null)(`the panel behind a real nginx${why === null ? '' : ` (${why})`}`, () => {
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
    const cookie = first.cookies.map((one) => one.split(';')[0]).join('; ');
    const own = { cookie, 'x-csrf': String(first.body.csrf), 'content-type': 'application/json' };
    return ask('POST', '/api/login', { ...own, ...headers }, JSON.stringify({ username: 'owner', password }));
  }

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

  it('refuses other names', async () => {
    expect((await ask('GET', '/api/session', { host: 'evil.example' })).body.error).toBe('host.invalid');
  });
});
