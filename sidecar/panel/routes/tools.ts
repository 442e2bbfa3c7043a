import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ToolDesk } from '../tools/tool-desk.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface ToolServices {
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly toolDesk: ToolDesk;
}

const BASE = '/api/bundle-tools/tools';
const wanted = z.strictObject({ name: z.string(), version: z.string().optional() });
const named = z.strictObject({ name: z.string() });

/** Programs that the bundle tools need. */
export function toolRoutes({ settings, jobs, toolDesk }: ToolServices): PanelRoute[] {
  const open = { access: needs('bundles.tools'), gate: toolsSwitch(settings) } as const;
  return [
    route({
      ...{ ...open, method: 'GET', path: `${BASE}/latest` },
      handle: async () => ({ tools: await toolDesk.list() }),
    }),
    route({
      ...{ ...open, method: 'POST', path: `${BASE}/install`, body: wanted, audit: 'bundleTools.tools.install' },
      handle: (request) => {
        const { name, version } = request.body;
        request.subject(`${name} ${version ?? ''}`.trim().slice(0, 100));
        return { status: jobs.start('tools.install', toolDesk.checkInstall(name, version), callerOf(request)) };
      },
    }),
    route({
      ...{ ...open, method: 'POST', path: `${BASE}/remove`, body: named, audit: 'bundleTools.tools.remove' },
      handle: (request) => {
        request.subject(request.body.name.slice(0, 100));
        return { status: jobs.start('tools.remove', toolDesk.checkRemove(request.body.name), callerOf(request)) };
      },
    }),
  ];
}
