import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';

export interface BareAppOptions {
  /** Head and body must have arrived by then, else the connection is closed at the next check. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Closes a socket on which nothing moves for this long, also if its client does not read the answer. */
  readonly idleSocketMs: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly maxParamLength?: number;
  /** Requests whose socket is passed to the listeners of `upgrade`; all others stay HTTP, whatever their headers ask. */
  readonly isUpgrade?: (request: IncomingMessage) => boolean;
  /** Answers to bytes that are not HTTP. */
  readonly onBrokenRequest: (error: NodeJS.ErrnoException, socket: Socket) => void;
  /** Answers to a path that cannot be read. */
  readonly onUnreadablePath: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers to an Expect header that Node.js does not know; it would answer 417 in its own words. */
  readonly onExpectation: (request: IncomingMessage, response: ServerResponse) => void;
}

const CHECK_INTERVAL_MS = 500;

/** No route has a schema of Fastify's; by default it would load the compilers of two libraries at each start. */
const WITHOUT_SCHEMAS = {
  compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema },
};

function refuseSchema(): never {
  throw new Error('a route has a schema for Fastify; bodies and answers are read and written by our own code');
}

/**
 * Fastify that answers nothing by itself and reads no body: API and panel have their own order of refusals (contract section 3;
 * panel contract, "Order of checks").
 */
export function createBareApp(options: BareAppOptions): FastifyInstance {
  const { requestTimeoutMs, headersTimeoutMs, tls, maxParamLength } = options;
  const http = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // Node.js would refuse a missing Host header in its own words.
    requireHostHeader: false,
    noDelay: true,
    shouldUpgradeCallback: options.isUpgrade ?? (() => false),
  };
  const server = {
    logger: false,
    schemaController: WITHOUT_SCHEMAS,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: options.idleSocketMs,
    ...(maxParamLength === undefined ? {} : { routerOptions: { maxParamLength } }),
    ...(tls === null ? { http } : { https: { ...http, handshakeTimeout: requestTimeoutMs, ...tls } }),
    clientErrorHandler: options.onBrokenRequest,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      options.onUnreadablePath(request.raw, reply.raw);
    },
  } satisfies FastifyServerOptions | (FastifyServerOptions & { https: unknown });
  const app = Fastify(server as FastifyServerOptions);
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.server.on('checkExpectation', options.onExpectation);
  return app;
}
