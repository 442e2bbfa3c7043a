import { expect, it } from 'vitest';
import { createApp } from '../../../../sidecar/panel/app.ts';
import type { Guards } from '../../../../sidecar/panel/http/guards.ts';
import type { PanelRoute } from '../../../../sidecar/panel/http/route.ts';
import { StaticPages } from '../../../../sidecar/panel/http/static-pages.ts';

const guards = {} as Guards;
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
