import * as z from 'zod';
import type { Accounts } from '../accounts/accounts.ts';
import { mayCall, needs, type PanelRoute, route } from '../http/route.ts';
import { pagesOf } from '../shapes/pages.ts';

export interface UsersServices {
  readonly accounts: Accounts;
}

const draft = z.strictObject({
  username: z.string(),
  password: z.string().optional(),
  permissions: z.array(z.string()).optional(),
  enabled: z.boolean().optional(),
  create: z.boolean().optional(),
});

/** Accounts, for their managers. `routes` is the whole table, to list the routes that an account may call. */
export function usersRoutes({ accounts }: UsersServices, routes: () => readonly PanelRoute[]): PanelRoute[] {
  const manage = needs('users.manage');
  return [
    route({
      method: 'GET',
      path: '/api/users',
      access: manage,
      handle: () => ({ users: accounts.list() }),
    }),
    route({
      method: 'GET',
      path: '/api/users/:username/access',
      access: manage,
      handle: (request) => {
        const account = accounts.view(request.params.username ?? '');
        const permissions = new Set(account.permissions);
        const open = routes().filter((entry) => entry.access.kind !== 'public' && mayCall(entry.access, permissions));
        return {
          account,
          pages: account.enabled ? pagesOf(permissions) : [],
          routes: account.enabled ? open.map(({ method, path }) => ({ method, path })) : [],
        };
      },
    }),
    route({
      method: 'POST',
      path: '/api/users/save',
      access: manage,
      audit: 'users.save',
      body: draft,
      handle: async (request) => {
        request.subject(request.body.username);
        const changes = await accounts.save(request.caller?.accountId ?? 0, request.body);
        request.subject([request.body.username.toLowerCase(), ...changes].join(' '));
        return {};
      },
    }),
    route({
      method: 'POST',
      path: '/api/users/delete',
      access: manage,
      audit: 'users.delete',
      body: z.strictObject({ username: z.string() }),
      handle: (request) => {
        request.subject(request.body.username);
        accounts.remove(request.caller?.accountId ?? 0, request.body.username);
        return {};
      },
    }),
  ];
}
