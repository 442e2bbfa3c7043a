import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '#protocol/errors.ts';
import { LONG_OPERATION_TIMEOUT_MS } from '#protocol/limits.ts';
import { STREAM_PATH } from '#protocol/stream-frames.ts';
import type { DatabaseCheck } from '../data/database-check.ts';
import { type BareAppOptions, createBareApp } from '../http/bare-app.ts';
import { answerBrokenRequest } from '../http/broken-request.ts';
import type { Log } from '../log.ts';
import { errorAnswer } from '../operations/answer.ts';
import type { Operations } from '../operations/run.ts';
import type { Client, ClientReader } from '../security/client.ts';
import type { Metrics } from './metrics.ts';
import { type OperationRouteOptions, operationRoute, type Serve } from './operation-route.ts';
import { envelopeText, replyError, send, sendJson } from './reply.ts';

export interface AppOptions extends OperationRouteOptions {
  readonly operations: Operations;
  readonly log: Log;
  readonly requestTimeoutMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly clients: ClientReader;
  readonly metricsVisibility: MetricsVisibility;
  readonly database: DatabaseCheck;
  /** Id of this sidecar; left out if it is not announced. */
  readonly instance?: () => string;
  readonly tls: BareAppOptions['tls'];
  readonly isUpgrade: (request: IncomingMessage) => boolean;
}

export type MetricsVisibility = 'loopback' | 'all' | 'none';

/** A socket on which nothing moves for this long is closed, also one whose client does not read its answer. */
const IDLE_SOCKET_MS = LONG_OPERATION_TIMEOUT_MS + 10_000;

/** The whole surface of the signed API. The signed path is the route's own constant: nothing else leads to it. */
export function createApp(options: AppOptions): FastifyInstance {
  const app = createBareApp({ ...serverOptions(options), tls: options.tls, isUpgrade: options.isUpgrade });
  const { clients } = options;
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
  for (const operation of options.operations.values()) {
    route('POST', operation.path, operationRoute(operation, options));
  }
  publicRoutes(options, route);

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
  return app;
}

/** GET without authentication. */
function publicRoutes(
  { now, database, metrics, metricsVisibility, instance }: AppOptions,
  route: (method: 'GET', path: string, serve: Serve) => void,
): void {
  route('GET', STREAM_PATH, (_request, response) => {
    replyError(response, new ApiError('invalid_request', 'expected a WebSocket upgrade'));
  });
  // Clients set their clock by it and name the instance in their nonces; it says nothing of the database.
  route('GET', '/v1/health', (_request, response) => {
    const time = Math.floor(now() / 1000);
    sendJson(response, 200, JSON.stringify({ status: 'ok', time, ...(instance && { instance: instance() }) }));
  });
  route('GET', '/healthz', (_request, response) => {
    sendJson(response, 200, '{"status":"ok"}');
  });
  route('GET', '/readyz', async (_request, response) => {
    const { isReachable, obstacle } = await database.look();
    if (isReachable && obstacle === null) sendJson(response, 200, '{"status":"ready","database":true}');
    else if (obstacle === null) sendJson(response, 503, '{"status":"unavailable","database":false}');
    else sendJson(response, 503, `{"status":"unavailable","database":true,"takesNoWrites":"${obstacle}"}`);
  });
  route('GET', '/metrics', (_request, response, client) => {
    if (!canSeeMetrics(metricsVisibility, client)) replyError(response, noSuchPath());
    else send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', metrics.text());
  });
}

function serverOptions({
  requestTimeoutMs,
}: Pick<AppOptions, 'requestTimeoutMs'>): Omit<BareAppOptions, 'tls' | 'isUpgrade'> {
  const broken = new ApiError('invalid_request', 'the request is not HTTP that can be read');
  return {
    requestTimeoutMs,
    headersTimeoutMs: requestTimeoutMs,
    idleSocketMs: IDLE_SOCKET_MS,
    onBrokenRequest: answerBrokenRequest(envelopeText(errorAnswer(broken))),
    onUnreadablePath: (_request, response) => replyError(response, noSuchPath()),
    onExpectation: (_request, response) =>
      replyError(response, new ApiError('invalid_request', 'the expectation is not known')),
  };
}

/** Elsewhere there is no such path (contract section 3). */
function canSeeMetrics(visibility: MetricsVisibility, client: Client | null): boolean {
  return visibility === 'all' || (visibility === 'loopback' && client?.isLoopback === true);
}

function noSuchPath(): ApiError {
  return new ApiError('invalid_request', 'there is no such path', { status: 404 });
}

function wrongMethod(): ApiError {
  return new ApiError('invalid_request', 'the path takes another method', { status: 405 });
}
