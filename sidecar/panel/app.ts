import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createBareApp } from '../http/bare-app.ts';
import { answerBrokenRequest } from '../http/broken-request.ts';
import { connectionLimit } from '../http/listen.ts';
import type { Guards } from './http/guards.ts';
import { sendAnswer, sendError } from './http/reply.ts';
import type { Answer, PanelRoute } from './http/route.ts';
import type { StaticPages } from './http/static-pages.ts';
import { type ConnectionBounds, HEAD_TIMES, OpenConnections } from './open-connections.ts';
import { PanelError } from './panel-error.ts';
import { auditRoutes } from './routes/audit.ts';
import { backupRoutes } from './routes/backups.ts';
import { bridgeRoutes } from './routes/bridge.ts';
import { bundleToolsRoutes } from './routes/bundle-tools.ts';
import { bundleRoutes } from './routes/bundles.ts';
import { chartsRoutes } from './routes/charts.ts';
import { clusterRoutes } from './routes/cluster.ts';
import { databaseRoutes } from './routes/database.ts';
import { eventsRoutes } from './routes/events.ts';
import { installsRoutes } from './routes/installs.ts';
import { logsRoutes } from './routes/logs.ts';
import { mergingRoutes } from './routes/merging.ts';
import { noticesRoutes } from './routes/notices.ts';
import { packageRoutes } from './routes/packages.ts';
import { playersRoutes } from './routes/players.ts';
import { projectRoutes } from './routes/projects.ts';
import { rowExchangeRoutes } from './routes/row-exchange.ts';
import { scheduleRoutes } from './routes/schedule.ts';
import { secondFactorRoutes } from './routes/second-factor.ts';
import { serverRoutes } from './routes/server.ts';
import { serverUpdatesRoutes } from './routes/server-updates.ts';
import { sessionRoutes } from './routes/session.ts';
import { settingsRoutes } from './routes/settings.ts';
import { setupRoutes } from './routes/setup.ts';
import { sourceAccountRoutes } from './routes/source-accounts.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { toolRoutes } from './routes/tools.ts';
import { withToolsFields } from './routes/tools-fields.ts';
import { trashRoutes } from './routes/trash.ts';
import { updatesRoutes } from './routes/updates.ts';
import { uploadsRoutes } from './routes/uploads.ts';
import { usersRoutes } from './routes/users.ts';
import type { PanelServices } from './services.ts';

/** The whole surface of the panel. */
export function panelRoutes(services: PanelServices): PanelRoute[] {
  const routes: PanelRoute[] = [
    ...sessionRoutes(services),
    ...setupRoutes(services),
    ...settingsRoutes(services),
    ...usersRoutes(services, () => routes),
    ...secondFactorRoutes(services),
    ...tokenRoutes(services),
    ...auditRoutes(services),
    ...bridgeRoutes(services),
    ...bundleRoutes(services),
    ...withToolsFields(toolsRoutes(services)),
    ...serverRoutes(services),
    ...playersRoutes(services),
    ...scheduleRoutes(services),
    ...noticesRoutes(services),
    ...eventsRoutes(services),
    ...logsRoutes(services),
    ...chartsRoutes(services),
    ...clusterRoutes(services),
    ...databaseRoutes(services),
    ...rowExchangeRoutes(services),
    ...backupRoutes(services),
    ...updatesRoutes(services),
    ...serverUpdatesRoutes(services),
  ];
  return routes;
}

/** The bundle tools, and what works with them off. */
function toolsRoutes(services: PanelServices): PanelRoute[] {
  return [
    ...trashRoutes(services),
    ...bundleToolsRoutes(services),
    ...mergingRoutes(services),
    ...sourceAccountRoutes(services),
    ...projectRoutes(services),
    ...packageRoutes(services),
    ...toolRoutes(services),
    ...installsRoutes(services),
    ...uploadsRoutes(services),
  ];
}

export interface AppOptions {
  readonly routes: readonly PanelRoute[];
  readonly guards: Guards;
  readonly pages: StaticPages;
  readonly stalledMs?: number;
}

const ACCESS_KINDS = ['public', 'authenticated', 'all', 'any'];
/** Head and body of an upload; the guards end any other body after 30 s. Answers may take as long as they like. */
const REQUEST_MS = 3_600_000;
/** Closes a connection without progress: a client that does not read must not keep a file open or block an archive. */
const STALLED_MS = 300_000;
const LONGEST_PARAMETER = 255;
/** A path that no route and no page has. */
const NOWHERE = '/api/';

export function createApp({ routes, guards, pages, stalledMs = STALLED_MS }: AppOptions): FastifyInstance {
  routes.forEach(checkDeclared);
  const app = createBareApp({
    requestTimeoutMs: REQUEST_MS,
    headersTimeoutMs: HEAD_TIMES.headersTimeout,
    idleSocketMs: stalledMs,
    tls: null,
    maxParamLength: LONGEST_PARAMETER,
    onBrokenRequest: answerBrokenRequest('{"ok":false,"error":"body.malformed"}'),
    onUnreadablePath: (request, response) => serveNowhere(app, request, response),
    onExpectation: (request, response) => serveNowhere(app, request, response),
  });
  const answer = async (request: FastifyRequest, reply: FastifyReply, made: Answer | Promise<Answer>) => {
    await sendAnswer(reply, await made);
    guards.note(request.course, reply.raw.statusCode, null);
  };
  app.decorateRequest('course');
  app.addHook('onRequest', guards.siteHook());
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      onRequest: guards.routeHook(route),
      handler: async (request, reply) => answer(request, reply, route.handle(request.course as never)),
    });
  }
  app.setNotFoundHandler(async (request, reply) => answer(request, reply, answerElse(request.raw, routes, pages)));
  app.setErrorHandler((error, request, reply) => {
    const refusal = guards.refusalOf(error);
    sendError(reply, refusal);
    guards.note(request.course, reply.raw.statusCode, refusal);
  });
  new OpenConnections(connectionBounds()).watch(app.server);
  return app;
}

/** The guards judge it all the same. */
function serveNowhere(app: FastifyInstance, request: IncomingMessage, response: ServerResponse): void {
  request.url = NOWHERE;
  app.routing(request, response);
}

/** A quarter of the files that the process may have open: the API and the database come first. */
function connectionBounds(): ConnectionBounds {
  const most = connectionLimit(1 / 4);
  return { most, mostOfNetwork: Math.floor(most / 2) };
}

/** TypeScript holds it already, but for what was cast or read from elsewhere. */
function checkDeclared({ method, path, access }: PanelRoute): void {
  const kind: string | undefined = access?.kind;
  const isDeclared = ACCESS_KINDS.includes(kind ?? '') && (!('permissions' in access) || access.permissions.length > 0);
  if (!isDeclared) throw new Error(`${method} ${path} declares no permission`);
}

/** A page, or 404; 405 if the path has a route. */
function answerElse(request: IncomingMessage, routes: readonly PanelRoute[], pages: StaticPages): Answer {
  const { method = '', url = '', headers } = request;
  const isPage = method === 'GET' && !/^\/api(\/|$|\?)/.test(url);
  const page = isPage ? pages.find(url, String(headers['accept-encoding'] ?? '')) : null;
  if (page !== null) return page;
  const allow = routes.filter((route) => isPathOf(route, url)).map((route) => route.method);
  // A part of the path that cannot be read, or is too long for any name, leads nowhere either.
  if (allow.length === 0 || allow.some((known) => known === method)) throw new PanelError('route.unknown');
  throw new PanelError('method.unknown', { allow: [...new Set(allow)].join(', ') });
}

function isPathOf({ path }: PanelRoute, url: string): boolean {
  const [wanted, given] = [path.split('/'), (url.split('?')[0] ?? '').split('/')];
  return wanted.length === given.length && wanted.every((part, index) => part.startsWith(':') || part === given[index]);
}
