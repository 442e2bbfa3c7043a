import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import type { Notices } from '../notices/notices.ts';

/** Values are judged by their own errors. */
const anything = z.unknown().optional();
const fields = z.strictObject({
  ...{ id: anything, name: anything, kind: anything, enabled: anything, url: anything, line: anything },
  ...{ ca: anything, events: anything, quiet: anything, locale: anything, secret: anything },
});
const chosen = z.strictObject({ id: anything });

const ACCESS = needs('settings.write');
const PATH = '/api/notices';

/** Targets of notices. */
export function noticesRoutes({ notices }: { readonly notices: Notices }): PanelRoute[] {
  return [
    route({ ...{ method: 'GET', path: PATH, access: ACCESS }, handle: () => ({ ...notices.list() }) }),
    route({
      ...{ method: 'POST', path: `${PATH}/save`, access: ACCESS, body: fields, audit: 'notices.save' },
      handle: (request) => {
        const saved = notices.save(request.body, callerOf(request));
        request.subject(notices.nameOf(saved.id));
        return saved;
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/delete`, access: ACCESS, body: chosen, audit: 'notices.delete' },
      handle: (request) => {
        request.subject(notices.nameOf(request.body.id));
        notices.remove(request.body.id, callerOf(request));
        return {};
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/test`, access: ACCESS, body: chosen, audit: 'notices.test' },
      handle: async (request) => {
        request.subject(notices.nameOf(request.body.id));
        return { result: await notices.test(request.body.id, callerOf(request)) };
      },
    }),
  ];
}
