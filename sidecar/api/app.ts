import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { ApiError } from '#protocol/errors.ts';
import { OPERATION_NAMES, OPERATIONS } from '#protocol/operations.ts';
import type { DatabaseCheck } from '../data/database-check.ts';
import { type Client, ClientReader } from '../security/client.ts';
import type { Metrics } from './metrics.ts';
import { OperationRoute, type OperationRouteOptions } from './operation-route.ts';
import {
  canSeeMetrics,
  type MetricsVisibility,
  noSuchPath,
  serveLiveness,
  serveMetrics,
  serveReadiness,
  serveTime,
  wrongMethod,
} from './probes.ts';
import { replyError } from './reply.ts';

export interface AppOptions extends OperationRouteOptions {
  readonly metrics: Metrics;
  readonly trustedProxies: readonly string[];
  /** It listens on a Unix socket, where clients have no address. */
  readonly isUnixSocket: boolean;
  readonly metricsVisibility: MetricsVisibility;
  readonly database: DatabaseCheck;
  /** From `serverOptions`: time limits, TLS, answers to what is not HTTP. */
  readonly server: FastifyServerOptions;
}

type Serve = (request: IncomingMessage, response: ServerResponse, client: Client) => void;

/** The whole surface of the signed API. The signed path is the route's own constant: nothing else leads to it. */
export function createApp(options: AppOptions): FastifyInstance {
  const app = Fastify({ ...options.server, exposeHeadRoutes: false, return503OnClosing: false });
  // Routes read their bodies themselves: contract section 3 has its own order of refusals, and no other method has one.
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  const clients = new ClientReader(options.trustedProxies, options.isUnixSocket);
  const methods = new Map<string, string[]>();

  const route = (method: 'GET' | 'POST', path: string, serve: Serve) => {
    methods.set(path, [...(methods.get(path) ?? []), method]);
    app.route({
      method,
      url: path,
      handler: (request, reply) => {
        reply.hijack();
        const client = clients.read(request.raw);
        if (request.raw.url !== path) replyError(reply.raw, noSuchPath());
        else if (client === null)
          replyError(reply.raw, new ApiError('invalid_request', 'the address of the client cannot be read'));
        else serve(request.raw, reply.raw, client);
      },
    });
  };
  const publicRoute = (path: string, serve: (response: ServerResponse, client: Client) => void) =>
    route('GET', path, (_request, response, client) => serve(response, client));

  for (const operation of OPERATION_NAMES) {
    const served = new OperationRoute(operation, options);
    route('POST', OPERATIONS[operation].path, (request, response, client) => served.serve(request, response, client));
  }
  publicRoute('/v1/health', serveTime(options.now));
  publicRoute('/healthz', serveLiveness());
  publicRoute('/readyz', serveReadiness(options.database));
  publicRoute('/metrics', serveMetrics(options.metrics, options.metricsVisibility));

  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    const allowed = methods.get(request.raw.url ?? '');
    const isHidden =
      request.raw.url === '/metrics' && !canSeeMetrics(options.metricsVisibility, clients.read(request.raw));
    if (allowed === undefined || isHidden) replyError(reply.raw, noSuchPath());
    else replyError(reply.raw, wrongMethod(), { allow: allowed.join(', ') });
  });
  app.setErrorHandler((error, _request, reply) => {
    reply.hijack();
    options.log.error('internal error', { cause: error instanceof Error ? error.name : typeof error });
    replyError(reply.raw, new ApiError('internal_error', 'the service failed; details are in its log'));
  });
  options.connections.watch(app.server);
  // Node.js would answer 417 in its own words.
  app.server.on('checkExpectation', (_request, response) => {
    replyError(response, new ApiError('invalid_request', 'the expectation is not known'));
  });
  return app;
}
