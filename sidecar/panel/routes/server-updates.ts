import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import type { ServerUpdatesDesk } from '../server-updates/server-updates.ts';
import type { ServerUpdatesAnswer } from '../shapes/server-updates.ts';

const SEES = needs('settings.write');
/** A game server runs as the sidecar's user. */
const CHANGES = needs('settings.write', 'users.manage');
const target = z.strictObject({ target: z.string().max(64).optional() });
const application = target.extend({ when: z.enum(['now', 'later']).optional() });
const BASE = '/api/server-updates';

/** Versions of the game server. */
export function serverUpdatesRoutes({ serverUpdates }: { readonly serverUpdates: ServerUpdatesDesk }): PanelRoute[] {
  return [
    route({
      ...{ method: 'GET', path: BASE, access: SEES },
      handle: (request) => {
        const status = serverUpdates.lastJob(callerOf(request));
        const answer: ServerUpdatesAnswer = { status, updates: serverUpdates.view() };
        return { ...answer };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/check`, access: SEES, body: target, audit: 'server-updates.check' },
      handle: (request) => ({ status: serverUpdates.startCheck(callerOf(request)) }),
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/download`, access: CHANGES, body: target, audit: 'server-updates.download' },
      handle: (request) => {
        request.subject(request.body.target ?? '');
        return { status: serverUpdates.startDownload(request.body.target ?? null, callerOf(request)) };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/apply`, access: CHANGES, body: application, audit: 'server-updates.apply' },
      handle: (request) => {
        const { target: name = null, when = 'later' } = request.body;
        request.subject(name ?? '');
        return { status: serverUpdates.startApply(name, when === 'now', callerOf(request)) };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/cancel`, access: SEES, body: target, audit: 'server-updates.cancel' },
      handle: (request) => ({ status: serverUpdates.cancel(callerOf(request)) }),
    }),
  ];
}
