import * as z from 'zod';
import { callerOf, needs, type PanelRoute, route } from '../http/route.ts';
import { CONNECTOR_ACCESS, type ConnectorInput, type ConnectorOffer } from '../installs/connector-offer.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { PanelUpdatesAnswer } from '../shapes/updates.ts';
import type { PanelUpdatesDesk } from '../updates/panel-updates.ts';

const SEES = needs('settings.write');
/** A release decides what runs as the sidecar's user. */
const CHANGES = needs('settings.write', 'users.manage');
const target = z.strictObject({ target: z.string().max(64).optional() });
const connector = z.strictObject({ apply: z.enum(['now', 'later']), overwrite: z.boolean().default(false) });

export interface UpdatesServices {
  readonly updates: PanelUpdatesDesk;
  readonly connectorOffer: ConnectorOffer;
  readonly jobs: Jobs;
}

/** Releases of the panel itself. */
export function updatesRoutes(services: UpdatesServices): PanelRoute[] {
  return [...releaseRoutes(services), ...connectorRoutes(services)];
}

function releaseRoutes({ updates }: UpdatesServices): PanelRoute[] {
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
        const { manifest, isSigned } = await updates.upload.receive(
          request.raw,
          callerOf(request).username,
          request.judgeAgain,
        );
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

/** An update of the panel leaves the server's own bundle as it is, and offers the new one here. */
function connectorRoutes({ connectorOffer, jobs }: UpdatesServices): PanelRoute[] {
  const path = '/api/updates/connector';
  return [
    route({
      ...{ method: 'GET', path, access: SEES },
      handle: async () => ({ connector: await connectorOffer.read() }),
    }),
    route({
      ...{ method: 'POST', path, access: CONNECTOR_ACCESS, body: connector, audit: 'updates.connector' },
      handle: async (request) => {
        request.subject('db_connector');
        await connectorOffer.check();
        return {
          status: jobs.start(connectorOffer.job.kind, request.body satisfies ConnectorInput, callerOf(request)),
        };
      },
    }),
  ];
}
