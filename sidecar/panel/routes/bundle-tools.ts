import * as z from 'zod';
import { callerOf, mayCall, needs, needsAny, type PanelRoute, route } from '../http/route.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import { readToolSettings } from '../settings/tool-settings.ts';
import { type BundleToolsAnswer, TOOL_PERMISSIONS } from '../shapes/bundle-tools.ts';
import type { SourceAccounts } from '../sources/source-accounts.ts';
import type { ToolDesk } from '../tools/tool-desk.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface BundleToolsServices {
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly sourceAccounts: SourceAccounts;
  readonly toolDesk: ToolDesk;
}

const BASE = '/api/bundle-tools';
const SEES_ACCOUNTS = needsAny('bundles.accounts.manage', 'bundles.accounts.use');
/** Each setting is judged by its own error. */
const anySettings = z.record(z.string(), z.unknown());

/** Overview and settings of the bundle tools, and their jobs. */
export function bundleToolsRoutes(services: BundleToolsServices): PanelRoute[] {
  const { settings, jobs, sourceAccounts, toolDesk } = services;
  const gate = toolsSwitch(settings);
  return [
    route({
      ...{ method: 'GET', path: BASE, access: needsAny(...TOOL_PERMISSIONS), gate },
      handle: async (request) => {
        const caller = callerOf(request);
        const answer: BundleToolsAnswer = {
          ...{ settings: settings.values.tools, jobs: jobs.list(caller), tools: await toolDesk.list() },
          ...(mayCall(SEES_ACCOUNTS, caller.permissions) ? { accounts: sourceAccounts.list() } : {}),
        };
        return { ...answer };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/settings`, access: needs('bundles.settings'), gate },
      ...{ body: anySettings, audit: 'bundles.settings' },
      handle: ({ body, subject, changes }) => {
        subject(Object.keys(body).join(', ').slice(0, 200));
        const before = settings.values.tools;
        const read = readToolSettings(body);
        settings.update({ tools: { ...before, ...read } });
        changes(
          Object.entries(read).map(([name, after]) => ({
            ...{ name, before: JSON.stringify(before[name as keyof typeof before]), after: JSON.stringify(after) },
          })),
        );
        return {};
      },
    }),
    ...jobRoutes(services),
    ...fixedRoutes(services),
  ];
}

function jobRoutes({ settings, jobs }: BundleToolsServices): PanelRoute[] {
  const isOn = toolsSwitch(settings);
  const access = needsAny(...TOOL_PERMISSIONS);
  // Jobs of `/api/bundles/…` can be read and cancelled with the switch off.
  const gate: PanelRoute['gate'] = (request) => jobs.isWithoutSwitch(request.params.id ?? '') || isOn(request);
  return [
    route({
      ...{ method: 'GET', path: `${BASE}/jobs/:id`, access, gate },
      handle: async (request) => {
        const { params, query } = request;
        const after = /^\d{1,9}$/.test(query.get('after') ?? '') ? Number(query.get('after')) : 0;
        return { ...(await jobs.get(params.id ?? '', callerOf(request), after)) };
      },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/jobs/:id/cancel`, access, gate, audit: 'bundleTools.cancel' },
      handle: (request) => {
        request.subject(request.params.id ?? '');
        return { status: jobs.cancel(request.params.id ?? '', callerOf(request)) };
      },
    }),
  ];
}

/** The specification names these routes, and refuses them whatever is sent. */
function fixedRoutes({ settings }: BundleToolsServices): PanelRoute[] {
  const isOn = toolsSwitch(settings);
  const refuse = () => {
    throw new PanelError('bundleTools.workflow');
  };
  const gate: PanelRoute['gate'] = (request) => {
    isOn(request);
    refuse();
  };
  return [
    route({
      ...{ method: 'POST', path: `${BASE}/projects/delivery`, access: needs('bundles.settings'), gate },
      ...{ audit: 'bundleTools.delivery', handle: refuse },
    }),
    route({
      ...{ method: 'POST', path: `${BASE}/packages/set`, access: needs('bundles.packages'), gate },
      ...{ audit: 'bundleTools.packages', handle: refuse },
    }),
  ];
}
