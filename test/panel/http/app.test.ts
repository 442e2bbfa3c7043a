import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { createApp } from '#panel/app.ts';
import type { Guards } from '#panel/http/guards.ts';
import { type PanelRoute, PUBLIC, RawAnswer } from '#panel/http/route.ts';
import { StaticPages } from '#panel/http/static-pages.ts';
import { converse } from '#support/raw-http.ts';

const pass = async () => {};
const guards = { siteHook: () => pass, routeHook: () => pass, note() {} } as unknown as Guards;
const pages = new StaticPages('/nowhere');
const handle = () => ({});

it.each([
  ['no access at all', undefined],
  ['an unknown kind of access', { kind: 'everybody' }],
  ['an empty list of permissions', { kind: 'all', permissions: [] }],
])('does not start with a route that declares %s', (_what, access) => {
  const route = { method: 'GET', path: '/api/x', access, handle } as unknown as PanelRoute;
  expect(() => createApp({ routes: [route], guards, pages })).toThrow('GET /api/x declares no permission');
});

it('cuts whoever asks for much and takes nothing of it', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const handle = () =>
    new RawAnswer((response) => {
      response.write(Buffer.alloc(32 * 1024 * 1024));
      asked.resolve(response);
    });
  const route = { method: 'GET', path: '/api/x', access: PUBLIC, handle } as const;
  const app = createApp({ routes: [route], guards, pages, stalledMs: 200 });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const { socket } = converse(address, 'GET /api/x HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.pause();
  const response = await asked.promise;
  await expect.poll(() => response.destroyed).toBe(true);
  socket.destroy();
  await app.close();
});
