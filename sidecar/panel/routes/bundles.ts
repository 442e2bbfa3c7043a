import * as z from 'zod';
import type { BundleMarks } from '../bundles/bundle-marks.ts';
import { BUNDLE_ACTIONS, type Bundles } from '../bundles/bundles.ts';
import type { PartTables } from '../database/part-tables.ts';
import { actorOf, forTokens, needs, type PanelRoute, route } from '../http/route.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface BundleServices {
  readonly bundles: Bundles;
  readonly bundleMarks: BundleMarks;
  readonly settings: PanelSettings;
  readonly partTables: PartTables;
}

/** Values are judged by their own errors. */
const tagsDocument = z.strictObject({ name: z.unknown().optional(), tags: z.unknown().optional() });
const autostartDocument = z.strictObject({ name: z.unknown().optional(), autostart: z.unknown().optional() });

/** Bundles: their state, what may be done to each, and the owner's tags and autostart. */
export function bundleRoutes(services: BundleServices): PanelRoute[] {
  return [...stateRoutes(services), ...markRoutes(services)];
}

function markRoutes({ bundles, bundleMarks, settings }: BundleServices): PanelRoute[] {
  const gate = toolsSwitch(settings);
  return [
    route({
      method: 'GET',
      path: '/api/bundles/metadata',
      access: needs('bundles.read'),
      gate,
      handle: async () => ({ bundles: bundleMarks.metadata(await bundles.declared()) }),
    }),
    route({
      method: 'POST',
      path: '/api/bundles/tags',
      access: needs('bundles.read', 'bundles.tags'),
      gate,
      body: tagsDocument,
      audit: 'bundles.tags',
      handle: async ({ body, subject, changes }) => {
        const { name } = await bundles.find(body.name);
        subject(name);
        const before = bundleMarks.metadata(await bundles.declared()).find((one) => one.name === name)?.ownTags ?? [];
        const after = bundleMarks.setTags(name, body.tags);
        changes([{ name: 'tags', before: JSON.stringify(before), after: JSON.stringify(after) }]);
        bundles.refresh();
        return {};
      },
    }),
    route({
      method: 'POST',
      path: '/api/bundles/autostart',
      access: needs('bundles.read', 'bundles.autostart'),
      gate,
      body: autostartDocument,
      audit: 'bundles.autostart',
      handle: async ({ body: { name, autostart }, caller, subject, changes }) => {
        const bundle = await bundles.find(name);
        subject(bundle.name);
        if (typeof autostart !== 'boolean' && autostart !== null) {
          throw new PanelError('bundleTools.autostart', { field: 'autostart', detail: 'expected true, false or null' });
        }
        const before = bundleMarks.metadata([bundle])[0]?.autostart;
        bundleMarks.setAutostart(bundle, autostart, caller?.username ?? '');
        changes([{ name: 'autostart', before: JSON.stringify(before), after: JSON.stringify(autostart) }]);
        bundles.refresh();
        return {};
      },
    }),
  ];
}

function stateRoutes({ bundles, partTables }: BundleServices): PanelRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/bundles',
      access: forTokens(needs('bundles.read')),
      handle: async () => ({ bundles: await bundles.list() }),
    }),
    route({
      method: 'GET',
      path: '/api/bundles/data',
      access: needs('bundles.read', 'database.read'),
      handle: async ({ query }) => {
        const { name } = await bundles.find(query.get('name') ?? '');
        return { tables: await partTables.read(name) };
      },
    }),
    ...BUNDLE_ACTIONS.map((action) =>
      route({
        method: 'POST',
        path: `/api/bundles/:name/${action}`,
        access: forTokens(needs('bundles.read', `bundles.${action}`)),
        audit: `bundles.${action}`,
        handle: async ({ params, caller, subject }) => {
          const name = params.name ?? '';
          subject(name);
          await bundles.act(name, action, actorOf({ caller }));
          return {};
        },
      }),
    ),
  ];
}
