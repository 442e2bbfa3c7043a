import { z } from 'zod';
import { needs, type PanelRoute, route } from '../http/route.ts';
import type { PanelUpdatesAnswer } from '../shapes/updates.ts';
import type { PanelUpdatesDesk } from '../updates/panel-updates.ts';
import { callerOf } from './caller-of.ts';

const SEES = needs('settings.write');
/** A release decides what runs as the sidecar's user. */
const CHANGES = needs('settings.write', 'users.manage');
const target = z.strictObject({ target: z.string().max(64).optional() });

/** Releases of the panel itself. */
export function updatesRoutes({ updates }: { readonly updates: PanelUpdatesDesk }): PanelRoute[] {
  return [
    route({
      ...{ method: 'GET', path: '/api/updates', access: SEES },
      handle: (request) => {
        const answer: PanelUpdatesAnswer = { status: updates.lastJob(callerOf(request)), updates: updates.view() };
        return { ...answer };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/updates/check', access: SEES, audit: 'updates.check' },
      handle: (request) => ({ status: updates.startCheck(callerOf(request)) }),
    }),
    route({
      ...{ method: 'POST', path: '/api/updates/download', access: CHANGES, body: target, audit: 'updates.download' },
      handle: (request) => {
        request.subject(request.body.target ?? '');
        return { status: updates.startDownload(request.body.target ?? null, callerOf(request)) };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/updates/upload', access: CHANGES, isUpload: true, audit: 'updates.upload' },
      handle: async (request) => {
        const { manifest, isSigned } = await updates.upload.receive(request.raw, request.judgeAgain);
        request.subject(manifest.version);
        await updates.check();
        return { release: updates.offerOf(manifest, isSigned) };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/updates/cancel', access: SEES, audit: 'updates.cancel' },
      handle: (request) => ({ status: updates.cancel(callerOf(request)) }),
    }),
    route({
      ...{ method: 'POST', path: '/api/updates/apply', access: CHANGES, body: target, audit: 'updates.apply' },
      handle: (request) => {
        request.subject(request.body.target ?? '');
        return { status: updates.startApply(request.body.target ?? null, callerOf(request)) };
      },
    }),
    route({
      ...{ method: 'POST', path: '/api/updates/rollback', access: CHANGES, audit: 'updates.rollback' },
      handle: (request) => ({ status: updates.startRollback(callerOf(request)) }),
    }),
  ];
}
