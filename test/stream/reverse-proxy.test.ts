import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { provideNginx } from '#scripts/servers/debian-program.ts';
import { freePort } from '#scripts/servers/free-port.ts';
import { startTestApi, type TestApi } from '#support/api.ts';
import { makeCertificate } from '#support/certificate.ts';
import { secretOf } from '#support/config-folder.ts';
import { describeIf } from '#support/describe-if.ts';
import { type RunningNginx, startNginx } from '#support/nginx.ts';
import { SignedClient } from '#support/signed-client.ts';

const DOCUMENTATION = new URL('../../docs/api.md', import.meta.url);

const why = await provideNginx(() => {}).then(
  () => null,
  (error: Error) => error.message,
);

describeIf(why, 'the stream behind a real nginx', () => {
  let api: TestApi;
  let nginx: RunningNginx;
  let client: SignedClient;

  beforeAll(async () => {
    api = await startTestApi({ config: { api: { trustedProxies: ['127.0.0.1/32'], requireHttps: 'always' } } });
    const port = await freePort();
    const { certFile, keyFile, ca } = makeCertificate(api.folder);
    // The very example that owners copy.
    const location = /```nginx\n([\s\S]*?)```/.exec(readFileSync(DOCUMENTATION, 'utf8'))?.[1] ?? '';
    const server = `server { listen 127.0.0.1:${port} ssl; ssl_certificate ${certFile}; ssl_certificate_key ${keyFile};
      ${location.replace('http://127.0.0.1:20771', api.address)} }`;
    nginx = await startNginx(await provideNginx(() => {}), join(api.folder, 'nginx'), server, port);
    const address = `https://localhost:${port}`;
    client = new SignedClient({ address, secret: secretOf('local'), ca, transport: 'stream' });
  });

  afterAll(async () => {
    await client.close();
    await nginx.stop();
    await api.stop();
  });

  it('carries calls, from the address that the proxy names', async () => {
    for (let count = 0; count < 3; count += 1) {
      expect(await client.call('find', { namespace: 'game', table: 't' })).toMatchObject({
        ok: true,
        isVerified: true,
      });
    }
    expect(await api.client.with({ headers: { 'x-forwarded-proto': 'https' } }).get('/healthz')).toMatchObject({
      status: 200,
    });
    expect(client.stream().isOpen).toBe(true);
    expect(JSON.parse(api.log.at(-1) as string)).toMatchObject({ op: 'find', address: '127.0.0.1' });
  });
});
