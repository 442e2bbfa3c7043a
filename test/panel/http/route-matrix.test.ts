import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PanelRoute } from '#panel/http/route.ts';
import { PERMISSIONS, type Permission } from '#panel/shapes/permissions.ts';
import { type PanelClient, startTestPanel, type TestPanel } from '../support/panel.ts';
import { type Expected, ROUTE_ACCESS } from '../support/route-access.ts';

let panel: TestPanel;
/** Its permissions change all the time; its session stays. */
let probe: PanelClient;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });

beforeAll(async () => {
  panel = await startTestPanel();
  probe = await panel.account('probe', []);
});

afterAll(async () => {
  agent.destroy();
  await panel.stop();
});

const nameOf = ({ method, path }: PanelRoute) => `${method} ${path}`;

/** Answer of a route: status and key. A POST brings a body of the wrong type, which is refused behind every permission, so that nothing is done. */
function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; error: unknown }> {
  const { hostname, port } = new URL(panel.address);
  const url = path.replaceAll(/:\w+/g, 'x');
  const type = method === 'GET' ? {} : { 'content-type': 'text/plain', 'content-length': '2' };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path: url, headers: { ...type, ...headers }, agent }, (response) => {
      const status = response.statusCode ?? 0;
      if (status === 200) {
        // It may be a stream without end.
        response.destroy();
        resolve({ status, error: undefined });
        return;
      }
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status, error: text === '' ? undefined : JSON.parse(text).error }));
    });
    sent.on('error', reject);
    sent.end(method === 'GET' ? undefined : 'no');
  });
}

const asProbe = () => ({ cookie: probe.cookieHeader, 'x-csrf': probe.csrf });

async function give(permissions: readonly Permission[]): Promise<void> {
  const { accounts } = panel.services;
  await accounts.save(accounts.idOf('owner'), { username: 'probe', permissions });
}

function isOpen(expected: Expected, permissions: ReadonlySet<Permission>): boolean {
  if (typeof expected === 'string') return true;
  return 'all' in expected
    ? expected.all.every((name) => permissions.has(name))
    : expected.any.some((name) => permissions.has(name));
}

/** Each route is asked by more than a hundred sets of permissions. */
const MATRIX_MS = 300_000;

it('each route has its line in the table of the contract, and each line its route', () => {
  expect(panel.panel.routes.map(nameOf).sort()).toEqual(Object.keys(ROUTE_ACCESS).sort());
});

it('each POST that an account can make is written down in the audit log, but for those that only read', () => {
  const unwritten = panel.panel.routes.filter(({ method, audit }) => method === 'POST' && audit === undefined);
  // A sign-in writes itself down, with its result.
  const only = [
    'POST /api/login',
    'POST /api/login/second-factor',
    'POST /api/database/rows',
    'POST /api/database/count',
  ];
  const names = unwritten.map(nameOf).filter((name) => !/^POST .api.setup./.test(name) && !only.includes(name));
  expect(names).toEqual([]);
});

it('each guarded route refuses who has not signed in, or not any more', async () => {
  const nobody = panel.client();
  await nobody.session();
  const anonymous = { cookie: nobody.cookieHeader, 'x-csrf': nobody.csrf };
  const stale = { ...anonymous, cookie: `${nobody.cookieHeader}; panel-session=${'A'.repeat(43)}` };
  for (const route of panel.panel.routes.filter((entry) => ROUTE_ACCESS[nameOf(entry)] !== 'public')) {
    const { method, path } = route;
    expect({ [nameOf(route)]: await ask(method, path, anonymous) }).toEqual({
      [nameOf(route)]: { status: 401, error: 'session.missing' },
    });
    expect(await ask(method, path, stale)).toEqual({ status: 401, error: 'session.expired' });
  }
});

it('each POST refuses a token that is missing, sign-in and setup included', async () => {
  for (const route of panel.panel.routes.filter(({ method }) => method === 'POST')) {
    const answer = await ask('POST', route.path, { cookie: probe.cookieHeader });
    expect({ [nameOf(route)]: answer }).toEqual({ [nameOf(route)]: { status: 400, error: 'csrf.invalid' } });
  }
});

it(
  'each route is open to those permissions that the contract names, to no fewer and no others',
  async () => {
    const sets = [
      new Set<Permission>(),
      ...PERMISSIONS.map((name) => new Set([name])),
      ...PERMISSIONS.map((name) => new Set(PERMISSIONS.filter((other) => other !== name))),
    ];
    for (const permissions of sets) {
      await give([...permissions]);
      const routes = panel.panel.routes.filter((route) => nameOf(route) in ROUTE_ACCESS);
      const answers = await Promise.all(
        routes.map(async (route) => {
          const { error } = await ask(route.method, route.path, asProbe());
          return [nameOf(route), error !== 'permission.missing'] as const;
        }),
      );
      const expected = routes.map((route) => {
        const name = nameOf(route);
        return [name, isOpen(ROUTE_ACCESS[name] as Expected, permissions)];
      });
      expect({ [[...permissions].join()]: Object.fromEntries(answers) }).toEqual({
        [[...permissions].join()]: Object.fromEntries(expected),
      });
    }
  },
  MATRIX_MS,
);

it('each path refuses every other method, whoever asks', async () => {
  await give(PERMISSIONS);
  const paths = new Set(panel.panel.routes.map(({ path }) => path));
  for (const path of paths) {
    const known = panel.panel.routes.filter((route) => route.path === path).map(({ method }) => String(method));
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((name) => !known.includes(name))) {
      const { status } = await ask(method, path, asProbe());
      expect({ [`${method} ${path}`]: status }).toEqual({ [`${method} ${path}`]: 405 });
    }
  }
});
