import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { ApiError } from '#protocol/errors.ts';
import { OPERATIONS, type OperationName } from '#protocol/operations.ts';
import { operationsIn, type PayloadOf, parsePayload, parsePayloadText } from '#protocol/payloads.ts';
import { writeServerTiming } from '#protocol/server-timing.ts';
import { type CallContext, CallTiming } from '../data/call-context.ts';
import type { CallWatch } from '../data/call-watch.ts';
import { type Log, traceOf } from '../log.ts';
import type { Client } from '../security/client.ts';
import type { RateLimit } from '../security/rate-limit.ts';
import type { Authenticated, Authenticator } from './authenticate.ts';
import type { Connections } from './connections.ts';
import type { Metrics } from './metrics.ts';
import { RateLimited } from './rate-limited.ts';
import { type Body, type BodyReader, readText } from './read-body.ts';
import { asApiError, type ReplySeal, replyError, replyResult } from './reply.ts';
import type { RequestLog } from './request-log.ts';

export type OperationHandler<Op extends OperationName> = (
  payload: PayloadOf<Op>,
  context: CallContext,
) => Promise<string>;

/** JSON text of the result of each operation. Failures are `ApiError`; anything else is an internal error. */
export type OperationHandlers = { readonly [Op in OperationName]: OperationHandler<Op> };

export interface OperationRouteOptions {
  readonly authenticator: Authenticator;
  readonly keyLimit: RateLimit;
  readonly handlers: OperationHandlers;
  readonly metrics: Metrics;
  readonly requestLog: RequestLog;
  readonly watch: CallWatch;
  readonly log: Log;
  readonly bodies: BodyReader;
  readonly connections: Connections;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
  readonly monotonicNow: () => number;
}

/** One request of an operation, from its head to its one answer. */
interface Exchange {
  readonly response: ServerResponse;
  readonly client: Client;
  /** `performance.now()` at the head. */
  readonly startedMs: number;
  kid: string;
  /** Set once the request is authenticated: every answer from then on is signed. */
  seal: ReplySeal | null;
  isAnswered: boolean;
  payload: object | null;
  readonly timing: CallTiming;
}

/** Contract section 3, steps 2 and 7, around the `Authenticator`. */
export class OperationRoute<Op extends OperationName> {
  readonly #operation: Op;
  readonly #path: string;
  readonly #timeoutMs: number;
  readonly #options: OperationRouteOptions;

  constructor(operation: Op, options: OperationRouteOptions) {
    this.#operation = operation;
    this.#path = OPERATIONS[operation].path;
    this.#timeoutMs = OPERATIONS[operation].timeoutMs ?? options.requestTimeoutMs;
    this.#options = options;
  }

  serve(request: IncomingMessage, response: ServerResponse, client: Client): void {
    const startedMs = performance.now();
    const timing = new CallTiming();
    const unread = { kid: '', seal: null, isAnswered: false, payload: null };
    const exchange: Exchange = { response, client, startedMs, timing, ...unread };
    try {
      this.#options.authenticator.admit(client);
    } catch (error) {
      request.resume();
      this.#fail(exchange, error);
      return;
    }
    const { bodies, connections } = this.#options;
    bodies.read(request, { address: client.address, isStranger: connections.isStranger(request.socket) }, (body) => {
      try {
        this.#handle(exchange, body, request);
      } catch (error) {
        this.#fail(exchange, error);
      }
    });
  }

  #handle(exchange: Exchange, body: Body, { headers, socket }: IncomingMessage): void {
    const { authenticator, connections } = this.#options;
    const text = readText(body, headers['content-type']);
    const authenticated = authenticator.authenticate(text, this.#path, exchange.client);
    exchange.kid = authenticated.key.kid;
    connections.know(socket);
    authenticator.whenKept((refusal) => {
      try {
        if (refusal !== null) throw refusal;
        this.#admit(exchange, authenticated);
      } catch (error) {
        this.#fail(exchange, error);
      }
    });
  }

  /** From here on every answer is signed. */
  #admit(exchange: Exchange, authenticated: Authenticated): void {
    const { keyLimit, monotonicNow } = this.#options;
    const { key, secret, envelope } = authenticated;
    exchange.seal = { secret, nonce: envelope.nonce };
    if (!keyLimit.take(key.kid, monotonicNow())) throw new RateLimited('too many requests with this key', 1000);
    const payload = parsePayload(this.#operation, parsePayloadText(envelope.payload));
    exchange.payload = payload;
    this.#checkPermission(authenticated, payload);
    this.#run(exchange, authenticated, payload);
  }

  /** Before anything is looked up, so that a key learns nothing of what it may not see. */
  #checkPermission({ key }: Authenticated, payload: PayloadOf<Op>): void {
    if (!key.mayUseOperation(this.#operation)) {
      throw new ApiError('forbidden', `the key may not use ${this.#operation}`);
    }
    operationsIn(payload as Parameters<typeof operationsIn>[0]).forEach((operation, index) => {
      if (key.mayUseOperation(operation)) return;
      throw new ApiError('forbidden', `operations[${index}]: the key may not use ${operation}`, { index });
    });
    const { namespace } = payload as { namespace?: string };
    if (namespace !== undefined && OPERATIONS[this.#operation].namespace && !key.mayUseNamespace(namespace)) {
      throw new ApiError('forbidden', 'the key may not use this namespace');
    }
  }

  #run(exchange: Exchange, { key, envelope }: Authenticated, payload: PayloadOf<Op>): void {
    const deadline = exchange.startedMs + this.#timeoutMs;
    const context = {
      text: envelope.payload,
      kid: key.kid,
      allowUnfilteredWrites: key.allowUnfilteredWrites,
      deadline,
      now: this.#options.now(),
      timing: exchange.timing,
    };
    const running = this.#options.handlers[this.#operation](payload, context);
    const timer = setTimeout(() => {
      this.#fail(exchange, new ApiError('timeout', 'the request took too long; a write may still be done'));
    }, deadline - performance.now());
    running.then(
      (result) => {
        clearTimeout(timer);
        this.#succeed(exchange, result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        this.#fail(exchange, error);
      },
    );
  }

  #succeed(exchange: Exchange, result: string): void {
    if (exchange.isAnswered || exchange.seal === null) return;
    exchange.isAnswered = true;
    replyResult(exchange.response, exchange.seal, result, timingHeader(exchange));
    this.#account(exchange, 200, '');
  }

  /** An error after the answer (a write that ended beyond its time) has nobody to go to. */
  #fail(exchange: Exchange, thrown: unknown): void {
    if (exchange.isAnswered) return;
    exchange.isAnswered = true;
    const error = asApiError(thrown);
    if (error !== thrown) this.#options.log.error('internal error', { op: this.#operation, cause: traceOf(thrown) });
    replyError(exchange.response, error, exchange.seal, exchange.seal === null ? {} : timingHeader(exchange));
    this.#account(exchange, error.status, error.code);
  }

  #account(exchange: Exchange, status: number, code: string): void {
    const ms = performance.now() - exchange.startedMs;
    const { metrics, watch } = this.#options;
    const outcome = code === '' ? 'ok' : code;
    metrics.count(this.#operation, outcome, ms);
    const { kid, client, payload, timing } = exchange;
    if (kid !== '' && watch.hasListeners) {
      const databaseMs = Math.min(timing.databaseMs, ms);
      watch.tell({ operation: this.#operation, kid, address: client.address, payload, code: outcome, ms, databaseMs });
    }
    const rounded = Math.round(ms * 10) / 10;
    this.#options.requestLog.write({ op: this.#operation, kid, address: client.address, status, code, ms: rounded });
  }
}

/** Only who has signed is told: strangers learn nothing of how long a refusal took. */
function timingHeader({ startedMs, timing }: Exchange): Record<string, string> {
  const totalMs = performance.now() - startedMs;
  return { 'server-timing': writeServerTiming({ totalMs, databaseMs: Math.min(timing.databaseMs, totalMs) }) };
}
