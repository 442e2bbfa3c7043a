import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { PanelError } from '../panel-error.ts';
import type { PanelSettings } from '../settings/panel-settings.ts';
import type { ErrorKey } from '../shapes/error-keys.ts';
import type { Permission } from '../shapes/permissions.ts';
import type { BundleDeletion, DeleteInput } from '../trash/bundle-deletion.ts';
import type { BundleReturn, ReturnInput } from '../trash/bundle-return.ts';
import type { Trash } from '../trash/trash.ts';
import { toolsSwitch } from './tools-switch.ts';

export interface TrashServices {
  readonly settings: PanelSettings;
  readonly jobs: Jobs;
  readonly trash: Trash;
  readonly bundleDeletion: BundleDeletion;
  readonly bundleReturn: BundleReturn;
}

/** Values are judged by their own errors. */
const anything = z.unknown().optional();
const named = z.strictObject({ name: anything });
const chosen = z.strictObject({ id: anything });
const deletion = z.strictObject({
  name: anything,
  confirm: anything,
  hash: anything,
  data: anything,
  source: anything,
});

/** Deleting bundles, and the way back. */
export function trashRoutes(services: TrashServices): PanelRoute[] {
  return [...deletionRoutes(services), ...backRoutes(services)];
}

function deletionRoutes({ settings, jobs, bundleDeletion }: TrashServices): PanelRoute[] {
  const gate = toolsSwitch(settings);
  return [
    route({
      ...{ method: 'POST', path: '/api/bundles/delete-info', access: needs('bundles.read', 'bundles.delete') },
      ...{ gate, body: named, audit: 'bundles.delete' },
      handle: async ({ body, subject, previews }) => {
        previews();
        const info = await bundleDeletion.info(body.name);
        subject(info.name);
        return { info };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/bundles/delete' },
      access: needs('bundles.read', 'bundles.delete', 'bundles.stop'),
      ...{ gate, body: deletion, audit: 'bundles.delete' },
      handle: async (request) => {
        const { body, subject } = request;
        const caller = callerOf(request);
        const data = readFlag(body.data, 'data', 'database.write', caller.permissions);
        const source = readFlag(body.source, 'source', 'bundles.sources.delete', caller.permissions);
        const { name, hash } = await bundleDeletion.info(body.name);
        subject(name);
        if (body.confirm !== name) throw new PanelError('bundleTools.confirm', { field: 'confirm' });
        if (body.hash !== hash) throw new PanelError('bundles.changed', { field: 'hash' });
        const input: DeleteInput = { name, hash, data, source };
        return { status: jobs.start(bundleDeletion.job.kind, input, caller) };
      },
    }),
  ];
}

/** Without the switch: what was deleted can be brought back whatever the owner has turned off since. */
function backRoutes({ jobs, trash, bundleReturn }: TrashServices): PanelRoute[] {
  const access = needs('bundles.delete');
  return [
    route({
      ...{ method: 'GET', path: '/api/bundles/trash', access },
      handle: () => ({ trash: trash.list() }),
    }),
    route({
      ...{ method: 'POST', path: '/api/bundles/restore', access, body: chosen, audit: 'bundles.restore' },
      handle: async (request) => {
        const caller = callerOf(request);
        const row = await bundleReturn.check(request.body.id);
        request.subject(row.name);
        const data = row.quarantined.length > 0 && caller.permissions.has('database.write');
        const input: ReturnInput = { id: row.id, name: row.name, data };
        return { status: jobs.start(bundleReturn.job.kind, input, caller) };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/bundles/purge', access, body: chosen, audit: 'bundles.purge' },
      handle: async ({ body, subject }) => {
        subject(trash.get(body.id).name);
        await trash.purge(body.id);
        return {};
      },
    }),
  ];
}

/** Rights that the body makes necessary are judged before its values. */
function readFlag(
  given: unknown,
  field: 'data' | 'source',
  needed: Permission,
  permissions: ReadonlySet<Permission>,
): boolean {
  if (given === undefined || given === false) return false;
  if (!permissions.has(needed)) throw new PanelError('permission.missing');
  if (given === true) return true;
  throw new PanelError(`bundleTools.${field}` satisfies ErrorKey, { field, detail: 'expected true or false' });
}
