import * as z from 'zod';
import { isNamespace } from '#protocol/identifiers.ts';
import type { Backups } from '../backups/backups.ts';
import { callerOf, forTokens, needs, type PanelRoute, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';

const BASE = '/api/backups';
const choice = z.strictObject({
  name: z.string().max(300),
  where: z.enum(['local', 'remote']),
  namespace: z.string().optional(),
});
const wish = choice.extend({ as: z.string().optional(), confirm: z.string() });

/** Backups: the list, a new one, a drill, and the way back to one. */
export function backupRoutes({ backups }: { readonly backups: Backups }): PanelRoute[] {
  return [
    route({
      ...{ method: 'GET', path: BASE, access: forTokens(needs('backups.read')) },
      handle: async (request) => ({ ...(await backups.list(callerOf(request), request.signal)) }),
    }),
    ...(['make', 'drill'] as const).map((action) =>
      route({
        ...{ method: 'POST', path: `${BASE}/${action}`, audit: `backups.${action}` },
        access: action === 'make' ? forTokens(needs('backups.make')) : needs('backups.make'),
        handle: (request) => ({ status: backups[action](callerOf(request)) }),
      }),
    ),
    route({
      ...{ method: 'POST', path: `${BASE}/preview`, access: needs('backups.restore'), body: choice },
      audit: 'backups.preview',
      handle: async ({ body, subject, previews, signal }) => {
        previews();
        subject(body.name.slice(0, 200));
        const { name, where } = body;
        const namespace = readNamespace(body.namespace, 'namespace');
        return { tables: await backups.preview({ name, where, namespace }, signal) };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/restore`, access: needs('backups.restore', 'users.manage'), body: wish },
      audit: 'backups.restore',
      handle: (request) => {
        const { name, where, confirm, ...given } = request.body;
        request.subject(`${name} ${given.namespace ?? ''} ${given.as ?? ''}`.trim().slice(0, 200));
        const namespace = readNamespace(given.namespace, 'namespace');
        const as = readNamespace(given.as, 'as');
        if (as !== null && (namespace === null || as === namespace)) {
          throw new PanelError('backups.as', { field: 'as', detail: 'expected another name for one namespace' });
        }
        if (confirm !== name) throw new PanelError('backups.confirm', { field: 'confirm' });
        return { status: backups.restore({ name, where, namespace, as }, callerOf(request)) };
      },
    }),
  ];
}

function readNamespace(given: string | undefined, field: 'namespace' | 'as'): string | null {
  if (given === undefined) return null;
  if (!isNamespace(given)) throw new PanelError(`backups.${field}`, { field });
  return given;
}
