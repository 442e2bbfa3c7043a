import * as z from 'zod';
import { callerOf, needsAny, type PanelRoute, route } from '../http/route.ts';
import { ROLLBACK } from '../installs/create-installs.ts';
import type { Installs } from '../installs/installs.ts';
import type { Jobs } from '../jobs/jobs.ts';

export interface InstallsServices {
  readonly installs: Installs;
  readonly jobs: Jobs;
}

const access = needsAny('bundles.upload', 'bundles.build');
const rollback = z.strictObject({ name: z.string(), version: z.int().positive().optional() });

/** Versions of bundles, files that were edited since, and the way back to a version; also while the bundle tools are off. */
export function installsRoutes({ installs, jobs }: InstallsServices): PanelRoute[] {
  return [
    route({
      ...{ method: 'GET', path: '/api/bundles/versions', access },
      handle: ({ query }) => ({ versions: installs.versions(query.get('name') ?? '') }),
    }),
    route({
      ...{ method: 'GET', path: '/api/bundles/edited', access },
      handle: async ({ query }) => ({ edited: await installs.editedList.read(query.get('name') ?? '') }),
    }),
    route({
      ...{ method: 'POST', path: '/api/bundles/rollback', access, body: rollback, audit: 'bundles.rollback' },
      handle: (request) => {
        const { name, version } = request.body;
        request.subject(name);
        installs.checkRollback(name, version);
        return { status: jobs.start(ROLLBACK, request.body, callerOf(request)) };
      },
    }),
  ];
}
