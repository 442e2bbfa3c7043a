import { z } from 'zod';
import { needs, type PanelRoute, route } from '../http/route.ts';
import { listPackages, readPackages } from '../packages/project-packages.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { Projects } from '../sources/projects.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface PackageServices {
  readonly settings: PanelSettings;
  readonly projects: Projects;
}

const BASE = '/api/bundle-tools/packages';
const query = z.strictObject({ project: z.string(), name: z.string().optional() });
/** Packages of source projects. */
export function packageRoutes({ settings, projects }: PackageServices): PanelRoute[] {
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
        return { packages: listPackages(checked, body.name), checkedAt: null };
      },
    }),
  ];
}
