import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Guards, Target } from './http/guards.ts';
import type { PanelRoute } from './http/route.ts';
import type { StaticPages } from './http/static-pages.ts';
import { PanelError } from './panel-error.ts';
import { sessionRoutes } from './routes/session.ts';
import type { PanelServices } from './services.ts';

/** The whole surface of the panel. */
export function panelRoutes(services: PanelServices): PanelRoute[] {
  return [...sessionRoutes(services)];
}

export interface AppOptions {
  readonly routes: readonly PanelRoute[];
  readonly guards: Guards;
  readonly pages: StaticPages;
}

const ACCESS_KINDS = ['public', 'authenticated', 'all', 'any'];
/** Head and body of a request; answers may take as long as they like. */
const REQUEST_MS = 30_000;
const HEAD_MS = 10_000;
const MOST_CONNECTIONS = 2000;
const LONGEST_PARAMETER = 255;

export function createApp({ routes, guards, pages }: AppOptions): FastifyInstance {
  const serve = (request: IncomingMessage, response: ServerResponse, target: Target) =>
    void guards.serve(request, response, target);
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    requestTimeout: REQUEST_MS,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    http: { requireHostHeader: false, headersTimeout: HEAD_MS, noDelay: true },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      serve(request.raw, reply.raw, nothing(request.raw));
    },
  });
  // Guards read bodies themselves: the contract has its own order of refusals.
  app.addHttpMethod('POST', { hasBody: false, overrideExisting: true });
  const nothing = (request: IncomingMessage): Target => ({
    route: null,
    answer: () => answerElse(request, routes, pages),
  });
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
    serve(request.raw, reply.raw, nothing(request.raw));
  });
  app.server.maxConnections = MOST_CONNECTIONS;
  app.server.on('checkExpectation', (request, response) => serve(request, response, nothing(request)));
  return app;
}

/** TypeScript holds it already, but for what was cast or read from elsewhere. */
function checkDeclared({ method, path, access }: PanelRoute): void {
  const kind: string | undefined = access?.kind;
  const isDeclared = ACCESS_KINDS.includes(kind ?? '') && (!('permissions' in access) || access.permissions.length > 0);
  if (!isDeclared) throw new Error(`${method} ${path} declares no permission`);
}

function answerElse(
  { method = '', url = '', headers }: IncomingMessage,
  routes: readonly PanelRoute[],
  pages: StaticPages,
) {
  const isPage = method === 'GET' && !/^\/api(\/|$)/.test(url);
  const page = isPage ? pages.find(url, String(headers['accept-encoding'] ?? '')) : null;
  if (page !== null) return page;
  throw new PanelError(routes.some((route) => isPathOf(route, url)) ? 'method.unknown' : 'route.unknown');
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
