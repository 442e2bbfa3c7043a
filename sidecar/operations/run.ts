import { performance } from 'node:perf_hooks';
import { ApiError } from '#protocol/errors.ts';
import { OPERATIONS, type OperationName } from '#protocol/operations.ts';
import { type PayloadOf, parsePayload, parsePayloadText } from '#protocol/payloads.ts';
import type { ServerTiming } from '#protocol/server-timing.ts';
import { type CallContext, CallTiming } from '../data/call-context.ts';
import { type Log, traceOf } from '../log.ts';
import type { Client } from '../security/client.ts';
import type { RateLimit } from '../security/rate-limit.ts';
import { type Answer, asApiError, errorAnswer, RateLimited, resultAnswer, type Seal } from './answer.ts';
import type { Authenticated, Authenticator } from './authenticate.ts';
import { checkPermission } from './permission.ts';

export type OperationHandler<Op extends OperationName> = (
  payload: PayloadOf<Op>,
  context: CallContext,
) => Promise<string>;

/** JSON text of the result of each operation. Failures are `ApiError`; anything else is an internal error. */
export type OperationHandlers = { readonly [Op in OperationName]: OperationHandler<Op> };

/** Facts about an answered request, for logs and figures. */
export interface AnsweredCall {
  readonly operation: OperationName;
  /** Empty before the envelope was read. */
  readonly kid: string;
  readonly client: Client;
  /** Only to take names out of it; nothing of its content may be kept. Null if it could not be read. */
  readonly payload: object | null;
  readonly status: number;
  /** Empty for a success. */
  readonly code: string;
  readonly ms: number;
  readonly databaseMs: number;
}

export interface RunOptions {
  readonly authenticator: Authenticator;
  readonly keyLimit: RateLimit;
  readonly handlers: OperationHandlers;
  readonly log: Log;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  onAnswered(call: AnsweredCall): void;
}

/** One request from its head to its one answer, as a transport sees it. */
export interface Exchange {
  readonly client: Client;
  /** Takes the answer, once. */
  answer(answer: Answer): void;
  /** The request had a right signature. */
  authenticated(): void;
}

/** State of one request between its steps. */
export interface Call {
  readonly exchange: Exchange;
  /** `performance.now()` at the head. */
  readonly startedMs: number;
  readonly timing: CallTiming;
  kid: string;
  /** Set once the request is authenticated: every answer from then on is signed. */
  seal: Seal | null;
  isAnswered: boolean;
  payload: object | null;
}

/**
 * One operation of contract section 3, steps 1 and 3 to 7: envelope text in, signed answer out. Knows no transport; the
 * transport reads the text between `admit` and `run` (step 2).
 */
export class Operation<Op extends OperationName> {
  readonly #name: Op;
  readonly #path: string;
  readonly #timeoutMs: number;
  readonly #options: RunOptions;

  constructor(name: Op, options: RunOptions) {
    this.#name = name;
    this.#path = OPERATIONS[name].path;
    this.#timeoutMs = OPERATIONS[name].timeoutMs ?? options.requestTimeoutMs;
    this.#options = options;
  }

  /** Step 1, from the head alone. Null if the request was refused, and answered. */
  admit(exchange: Exchange): Call | null {
    const unread = { kid: '', seal: null, isAnswered: false, payload: null };
    const call: Call = { exchange, startedMs: performance.now(), timing: new CallTiming(), ...unread };
    try {
      this.#options.authenticator.admit(exchange.client);
      return call;
    } catch (error) {
      this.#fail(call, error);
      return null;
    }
  }

  /** @param readText text of the envelope; an error that it throws is the answer */
  run(call: Call, readText: () => string): void {
    try {
      this.#authenticate(call, readText());
    } catch (error) {
      this.#fail(call, error);
    }
  }

  #authenticate(call: Call, text: string): void {
    const { authenticator } = this.#options;
    const authenticated = authenticator.authenticate(text, this.#path, call.exchange.client);
    call.kid = authenticated.key.kid;
    call.exchange.authenticated();
    authenticator.whenKept((refusal) => {
      try {
        if (refusal !== null) throw refusal;
        this.#accept(call, authenticated);
      } catch (error) {
        this.#fail(call, error);
      }
    });
  }

  /** From here on every answer is signed. */
  #accept(call: Call, authenticated: Authenticated): void {
    const { keyLimit, monotonicNow } = this.#options;
    const { key, secret, envelope } = authenticated;
    call.seal = { secret, nonce: envelope.nonce };
    if (!keyLimit.take(key.kid, monotonicNow())) throw new RateLimited('too many requests with this key', 1000);
    const payload = parsePayload(this.#name, parsePayloadText(envelope.payload));
    call.payload = payload;
    checkPermission(this.#name, payload, key);
    this.#handle(call, authenticated, payload);
  }

  #handle(call: Call, { key, envelope }: Authenticated, payload: PayloadOf<Op>): void {
    const deadline = call.startedMs + this.#timeoutMs;
    const context = {
      text: envelope.payload,
      kid: key.kid,
      allowUnfilteredWrites: key.allowUnfilteredWrites,
      deadline,
      now: this.#options.now(),
      timing: call.timing,
    };
    const running = this.#options.handlers[this.#name](payload, context);
    const timer = setTimeout(() => {
      this.#fail(call, new ApiError('timeout', 'the request took too long; a write may still be done'));
    }, deadline - performance.now());
    running.then(
      (result) => {
        clearTimeout(timer);
        this.#succeed(call, result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        this.#fail(call, error);
      },
    );
  }

  #succeed(call: Call, result: string): void {
    if (call.isAnswered || call.seal === null) return;
    call.isAnswered = true;
    call.exchange.answer(resultAnswer(call.seal, result, timingOf(call)));
    this.#account(call, 200, '');
  }

  /** An error after the answer (a write that ended beyond its time) has nobody to go to. */
  #fail(call: Call, thrown: unknown): void {
    if (call.isAnswered) return;
    call.isAnswered = true;
    const error = asApiError(thrown);
    if (error !== thrown) this.#options.log.error('internal error', { op: this.#name, cause: traceOf(thrown) });
    call.exchange.answer(errorAnswer(error, call.seal, timingOf(call)));
    this.#account(call, error.status, error.code);
  }

  #account(call: Call, status: number, code: string): void {
    const { totalMs: ms, databaseMs } = timingOf(call);
    const { kid, payload, exchange } = call;
    this.#options.onAnswered({
      operation: this.#name,
      client: exchange.client,
      ...{ kid, payload, status, code, ms, databaseMs },
    });
  }
}

function timingOf({ startedMs, timing }: Call): ServerTiming {
  const totalMs = performance.now() - startedMs;
  return { totalMs, databaseMs: Math.min(timing.databaseMs, totalMs) };
}
