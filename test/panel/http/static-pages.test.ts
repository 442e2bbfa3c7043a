import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packPages } from '#panel/http/pages-file.ts';
import { StaticPages } from '#panel/http/static-pages.ts';
import { testFolder } from '#support/test-folder.ts';
import { PanelClient } from '#test/panel/support/panel-client.ts';

const folder = testFolder();
let server: Server;
let client: PanelClient;

beforeAll(async () => {
  writeFileSync(join(folder, 'secret.txt'), 'a secret');
  const script = { '': 'js', br: 'js.br', gzip: 'js.gz' };
  const files = { 'index.html': { '': '<!doctype html>' }, 'assets/main-ABCD2345.js': script };
  const bodiesOf = (texts: object) => new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
  const packed = packPages(new Map(Object.entries(files).map(([path, texts]) => [path, bodiesOf(texts)])));
  writeFileSync(join(folder, 'panel.pages'), packed);
  const pages = new StaticPages(join(folder, 'panel.pages'));
  server = createServer((request, response) => {
    const found = pages.find(request.url ?? '', String(request.headers['accept-encoding'] ?? ''));
    if (found === null) response.writeHead(404).end();
    else void found.send(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = new PanelClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});

it.each([
  '/../secret.txt',
  '/..%2fsecret.txt',
  '/assets/../../secret.txt',
  '/assets',
  '/assets/',
  '//index.html',
  '/%69ndex.html',
])('has nothing for %s', async (path) => {
  expect(await client.get(path)).toMatchObject({ status: 404 });
});

it('gives the page under a policy that runs nothing of its text, and asks again each time', async () => {
  const { headers, text } = await client.get('/?x=1');
  expect(text).toBe('<!doctype html>');
  expect(headers['cache-control']).toBe('no-cache');
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(headers['content-security-policy']).not.toContain('unsafe');
});

it.each([
  ['gzip, deflate, br;q=1', 'br', 'js.br'],
  ['gzip', 'gzip', 'js.gz'],
  ['identity', undefined, 'js'],
])('gives a file with a hash for ever, packed as %s', async (accepted, encoding, text) => {
  const answer = await client.raw({ path: '/assets/main-ABCD2345.js', headers: { 'accept-encoding': accepted } });
  expect(answer).toMatchObject({ status: 200, text });
  expect(answer.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'accept-encoding',
  });
  expect(answer.headers['content-encoding']).toBe(encoding);
});

it('has no pages where none were built', () => {
  expect(new StaticPages(join(folder, 'nowhere')).find('/', undefined)).toBeNull();
});
