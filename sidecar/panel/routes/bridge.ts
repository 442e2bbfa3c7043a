import * as z from 'zod';
import type { Bridge } from '../bridge/bridge.ts';
import { AUTHENTICATED, needs, type PanelRoute, route } from '../http/route.ts';

/** The LAN bridge: lines of other machines, and the tokens with which they hand them in. */
export function bridgeRoutes({ bridge }: { readonly bridge: Bridge }): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/bridge',
      access: AUTHENTICATED,
      handle: async () => ({ status: await bridge.status() }),
    }),
    route({
      method: 'POST',
      path: '/api/bridge/settings',
      access: needs('settings.write'),
      body: z.record(z.string(), z.unknown()),
      audit: 'bridge.settings',
      handle: async ({ body }) => {
        await bridge.change(body);
        return { status: await bridge.status() };
      },
    }),
    route({
      method: 'GET',
      path: '/api/bridge/tokens',
      access: needs('settings.write'),
      handle: () => ({ tokens: bridge.tokens.list() }),
    }),
    route({
      method: 'POST',
      path: '/api/bridge/tokens/create',
      access: needs('settings.write'),
      body: z.object({ name: z.string() }),
      audit: 'bridge.tokens.create',
      handle: ({ body, subject }) => {
        const made = bridge.tokens.create(body.name);
        subject(body.name);
        return made;
      },
    }),
    route({
      method: 'POST',
      path: '/api/bridge/tokens/revoke',
      access: needs('settings.write'),
      body: z.object({ id: z.int() }),
      audit: 'bridge.tokens.revoke',
      handle: ({ body, subject }) => {
        subject(`token ${body.id}`);
        bridge.tokens.revoke(body.id);
        return {};
      },
    }),
  ];
}
