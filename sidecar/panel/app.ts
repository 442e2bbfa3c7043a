import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyHttpOptions, type FastifyInstance } from 'fastify';
import { connectionLimit } from '../http/listen.ts';
import type { Guards, Target } from './http/guards.ts';
import type { Answer, PanelRoute } from './http/route.ts';
import type { StaticPages } from './http/static-pages.ts';
import { type ConnectionBounds, HEAD_TIMES, OpenConnections } from './open-connections.ts';
import { PanelError } from './panel-error.ts';
import { auditRoutes } from './routes/audit.ts';
import { bridgeRoutes } from './routes/bridge.ts';
import { bundleRoutes } from './routes/bundles.ts';
import { chartsRoutes } from './routes/charts.ts';
import { databaseRoutes } from './routes/database.ts';
import { eventsRoutes } from './routes/events.ts';
import { logsRoutes } from './routes/logs.ts';
import { serverRoutes } from './routes/server.ts';
import { sessionRoutes } from './routes/session.ts';
import { settingsRoutes } from './routes/settings.ts';
import { setupRoutes } from './routes/setup.ts';
import { usersRoutes } from './routes/users.ts';
import type { PanelServices } from './services.ts';

/** The whole surface of the panel. */
export function panelRoutes(services: PanelServices): PanelRoute[] {
  const routes: PanelRoute[] = [
    ...sessionRoutes(services),
    ...setupRoutes(services),
    ...settingsRoutes(services),
    ...usersRoutes(services, () => routes),
    ...auditRoutes(services),
    ...bridgeRoutes(services),
    ...bundleRoutes(services),
    ...serverRoutes(services),
    ...eventsRoutes(services),
    ...logsRoutes(services),
    ...chartsRoutes(services),
    ...databaseRoutes(services),
  ];
  return routes;
}

export interface AppOptions {
  readonly routes: readonly PanelRoute[];
  readonly guards: Guards;
  readonly pages: StaticPages;
  readonly stalledMs?: number;
}

const ACCESS_KINDS = ['public', 'authenticated', 'all', 'any'];
/** Head and body of a request; answers may take as long as they like. */
const REQUEST_MS = 30_000;
/** Nothing gets through for so long: whoever does not take an answer keeps no file open, and nobody else from an archive. */
const STALLED_MS = 300_000;
const LONGEST_PARAMETER = 255;

export function createApp({ routes, guards, pages, stalledMs = STALLED_MS }: AppOptions): FastifyInstance {
  const serve = (request: IncomingMessage, response: ServerResponse, target: Target) =>
    void guards.serve(request, response, target);
  const serveElse = (request: IncomingMessage, response: ServerResponse) =>
    serve(request, response, { route: null, answer: () => answerElse(request, routes, pages) });
  const app = Fastify({ ...serverOptions(serveElse), connectionTimeout: stalledMs });
  // Guards read bodies themselves, of whatever method: the contract has its own order of refusals.
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  for (const route of routes) {
    checkDeclared(route);
    app.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => {
        reply.hijack();
        serve(request.raw, reply.raw, { route, params: request.params as Readonly<Record<string, string>> });
      },
    });
  }
  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    serveElse(request.raw, reply.raw);
  });
  new OpenConnections(connectionBounds()).watch(app.server);
  // Node.js would answer 417 in its own words.
  app.server.on('checkExpectation', serveElse);
  return app;
}

/** A quarter of the files that the process may have open: the API and the database come first. */
function connectionBounds(): ConnectionBounds {
  const most = connectionLimit(1 / 4);
  return { most, mostOfNetwork: Math.floor(most / 2) };
}

function serverOptions(serveElse: (request: IncomingMessage, response: ServerResponse) => void) {
  return {
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    requestTimeout: REQUEST_MS,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    http: { requireHostHeader: false, ...HEAD_TIMES, noDelay: true },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      serveElse(request.raw, reply.raw);
    },
  } satisfies FastifyHttpOptions<Server>;
}

/** TypeScript holds it already, but for what was cast or read from elsewhere. */
function checkDeclared({ method, path, access }: PanelRoute): void {
  const kind: string | undefined = access?.kind;
  const isDeclared = ACCESS_KINDS.includes(kind ?? '') && (!('permissions' in access) || access.permissions.length > 0);
  if (!isDeclared) throw new Error(`${method} ${path} declares no permission`);
}

/** A page, or 404; 405 where the path is one of ours. */
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

/** What never became a request. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || error.code === 'ERR_HTTP_REQUEST_TIMEOUT' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = '{"ok":false,"error":"body.malformed"}';
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`);
  socket.destroySoon();
}
