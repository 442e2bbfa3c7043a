import { BUNDLE_ACTIONS, type Bundles } from '../bundles/bundles.ts';
import { needs, type PanelRoute, route } from '../http/route.ts';

/** Bundles: their state, and what may be done to each. Tags and autostart are shown; their changes come later. */
export function bundleRoutes({ bundles }: { readonly bundles: Bundles }): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/bundles',
      access: needs('bundles.read'),
      handle: async () => ({ bundles: await bundles.list() }),
    }),
    ...BUNDLE_ACTIONS.map((action) =>
      route({
        method: 'POST',
        path: `/api/bundles/:name/${action}`,
        access: needs('bundles.read', `bundles.${action}`),
        audit: `bundles.${action}`,
        handle: async ({ params, caller, subject }) => {
          const name = params.name ?? '';
          subject(name);
          await bundles.act(name, action, caller?.username ?? '');
          return {};
        },
      }),
    ),
  ];
}
