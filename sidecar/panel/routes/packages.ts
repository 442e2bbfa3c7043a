import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PACKAGE_REVIEW, type PackageReviewInput, readWishes } from '../packages/package-review.ts';
import { listPackages, readPackages } from '../packages/project-packages.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { Projects } from '../sources/projects.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface PackageServices {
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly projects: Projects;
}

const BASE = '/api/bundle-tools/packages';
const query = z.strictObject({ project: z.string(), name: z.string().optional() });
const review = z.strictObject({
  project: z.string(),
  changes: z.array(z.strictObject({ name: z.string(), version: z.string().nullable() })).max(1000),
  title: z.string(),
});

/** Packages of source projects. */
export function packageRoutes({ settings, jobs, projects }: PackageServices): PanelRoute[] {
  const gate = toolsSwitch(settings);
  return [
    route({
      ...{
        method: 'POST',
        path: `${BASE}/info`,
        access: needs('bundles.build'),
        gate,
        body: query,
        audit: 'packages.info',
      },
      handle: async ({ body, subject }) => {
        subject(body.project.slice(0, 100));
        const project = projects.find(body.project);
        const { registry } = settings.values.tools;
        const checked = await readPackages(projects, { project, commit: project.commit, registry });
        return { packages: checked === null ? [] : listPackages(checked, body.name), checkedAt: null };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/review`, gate, body: review, audit: 'packages.review' },
      access: PACKAGE_REVIEW,
      handle: (request) => {
        const { project: name, changes, title } = request.body;
        request.subject(`${name} ${changes.map((change) => change.name).join(' ')}`.slice(0, 200));
        const project = projects.find(name);
        readWishes(changes, title);
        const input: PackageReviewInput = { project: project.name, changes, title: title.trim() };
        return { status: jobs.start('packages.review', input, callerOf(request)) };
      },
    }),
  ];
}
