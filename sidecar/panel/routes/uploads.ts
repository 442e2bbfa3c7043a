import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { Projects } from '../sources/projects.ts';
import { UPLOAD_INSTALL } from '../uploads/create-uploads.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { toolsField } from './tools-fields.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface UploadsServices {
  readonly settings: PanelSettings;
  readonly uploads: Uploads;
  readonly jobs: Jobs;
  readonly projects: Pick<Projects, 'has'>;
}

const PATH = '/api/bundle-tools/upload';
const access = needs('bundles.upload');
const MAX_BUNDLES = 500;
const MAX_KEPT = 1000;
const chosen = z.strictObject({
  from: z.string(),
  name: z.string(),
  category: z.string().nullable().optional(),
  keep: z.array(z.string().max(1000)).max(MAX_KEPT).optional(),
});
const install = z.strictObject({
  upload: z.string(),
  bundles: z.array(chosen).min(1).max(MAX_BUNDLES),
  apply: z.enum(['now', 'later']),
  overwrite: z.boolean().optional(),
});

/** Archives of bundles: sent, inspected, put in place. */
export function uploadsRoutes({ settings, uploads, jobs, projects }: UploadsServices): PanelRoute[] {
  const gate = toolsSwitch(settings);
  // A name in these documents is a bundle's.
  const badField = (name: string) => (name === 'name' ? 'bundles.name' : toolsField(name));
  return [
    route({
      ...{ method: 'POST', path: PATH, access, gate, isUpload: true, audit: 'bundles.upload' },
      handle: async (request) => {
        const upload = await uploads.receive(request.raw, callerOf(request), request.judgeAgain);
        request.subject(upload.bundles.map(({ name }) => name).join(', '));
        return { upload };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/exists`, access, gate, badField, audit: 'bundles.upload.exists' },
      body: z.strictObject({ name: z.string() }),
      handle: async (request) => {
        request.previews();
        request.subject(request.body.name);
        const bundle = await uploads.find(request.body.name);
        const project = projects.has(request.body.name) ? request.body.name : null;
        return { exists: bundle !== null, bundle, project };
      },
    }),
    route({
      ...{ method: 'POST', path: `${PATH}/install`, access, gate, badField },
      ...{ body: install, audit: 'bundles.upload.install' },
      handle: (request) => {
        const { body } = request;
        const caller = callerOf(request);
        request.subject(body.bundles.map(({ name }) => name).join(', '));
        uploads.check(body, caller);
        return { status: jobs.start(UPLOAD_INSTALL, body, caller) };
      },
    }),
  ];
}
