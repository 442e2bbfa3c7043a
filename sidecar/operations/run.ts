import { performance } from 'node:perf_hooks';
import type { RequestEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '#protocol/operations.ts';
import { parsePayload, parsePayloadText } from '#protocol/payload-reader.ts';
import type { BatchMember, PayloadOf } from '#protocol/payloads.ts';
import type { ServerTiming } from '#protocol/server-timing.ts';
import { type CallContext, CallTiming } from '../data/call-context.ts';
import { type Log, traceOf } from '../log.ts';
import type { Client } from '../security/client.ts';
import type { ApiKey } from '../security/keyring.ts';
import type { NonceStore } from '../security/nonce-store.ts';
import type { RateLimit } from '../security/rate-limit.ts';
import type { Admission } from './admission.ts';
import { type Answer, asApiError, errorAnswer, RateLimited, resultAnswer, type Seal } from './answer.ts';
import { type Authenticated, type Authenticator, notRemembered } from './authenticate.ts';

export type OperationHandler<Op extends OperationName> = (
  payload: PayloadOf<Op>,
  context: CallContext,
) => string | Promise<string>;

/** JSON text of the result of each operation, at once if nothing must be waited for. Failures are `ApiError`; anything else is an internal error. */
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
  readonly nonces: NonceStore;
  readonly keyLimit: RateLimit;
  readonly admission: Admission;
  readonly handlers: OperationHandlers;
  readonly log: Log;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  /** Left out if this sidecar is not announced. */
  readonly neighbours?: {
    /** Epoch milliseconds by which idempotency records have expired. */
    readonly expiryNow: number;
  };
  readonly sharedNonces?: {
    /** Nonce to record with what the request changes, if other sidecars accept it too. @throws ApiError */
    of(envelope: RequestEnvelope): CallContext['sharedNonce'];
  };
  onAnswered(call: AnsweredCall): void;
}

/** The transport's side of one request. */
export interface Exchange {
  readonly client: Client;
  /** Takes the one answer. */
  answer(answer: Answer): void;
}

/**
 * An operation of contract section 3, steps 1 and 4 to 7: an envelope in, a signed answer out. Knows no transport; the transport
 * reads the envelope (steps 2 and 3) between `admit` and `authenticate`.
 */
export class Operation<Op extends OperationName> {
  readonly name: Op;
  readonly path: string;
  readonly timeoutMs: number;
  readonly options: RunOptions;

  constructor(name: Op, options: RunOptions) {
    this.name = name;
    this.path = OPERATIONS[name].path;
    this.timeoutMs = OPERATIONS[name].timeoutMs ?? options.requestTimeoutMs;
    this.options = options;
  }

  /** Step 1, from the head alone. Null if the request was refused, and answered. */
  admit(exchange: Exchange): Call<Op> | null {
    const call = new Call(this, exchange);
    try {
      this.options.authenticator.admit(exchange.client);
      return call;
    } catch (error) {
      call.refuse(error);
      return null;
    }
  }
}

/** Every operation by its path. */
export type Operations = ReadonlyMap<string, Operation<OperationName>>;

export function createOperations(options: RunOptions): Operations {
  return new Map(OPERATION_NAMES.map((name) => [OPERATIONS[name].path, new Operation(name, options)]));
}

/** A request from its head to its one answer: `authenticate`, then `run`; or `refuse`. */
export class Call<Op extends OperationName> {
  readonly #operation: Operation<Op>;
  readonly #exchange: Exchange;
  readonly #startedMs = performance.now();
  readonly #timing = new CallTiming();
  #authenticated: Authenticated | null = null;
  /** Set once the request is remembered: every answer from then on is signed. */
  #seal: Seal | null = null;
  #payload: object | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isAnswered = false;
  #hasBegun = false;

  constructor(operation: Operation<Op>, exchange: Exchange) {
    this.#operation = operation;
    this.#exchange = exchange;
  }

  /** Steps 4 to 6: returns if the signature is right. Throws `ApiError`, which the transport passes to `refuse`. */
  authenticate(envelope: RequestEnvelope): void {
    const { path, options } = this.#operation;
    this.#authenticated = options.authenticator.authenticate(envelope, path, this.#exchange.client);
  }

  /** Step 7, once the nonce is kept. */
  run(): void {
    const { nonces } = this.#operation.options;
    nonces.whenKept((isKept) => {
      try {
        if (!isKept) throw notRemembered();
        this.#accept(this.#authenticated as Authenticated);
      } catch (error) {
        this.refuse(error);
      }
    });
  }

  /** Does nothing after the answer: the error of a write that ended beyond its time has no reader. */
  refuse(thrown: unknown): void {
    if (this.#isAnswered) return;
    const error = asApiError(thrown);
    if (error !== thrown) {
      const { name, options } = this.#operation;
      options.log.error('internal error', { op: name, cause: traceOf(thrown) });
    }
    const timing = this.#finish();
    this.#exchange.answer(errorAnswer(error, this.#seal, timing));
    this.#account(error.status, error.code, timing);
  }

  #accept(authenticated: Authenticated): void {
    const { key, secret, envelope } = authenticated;
    const { options } = this.#operation;
    this.#seal = { secret, nonce: envelope.nonce };
    if (!options.keyLimit.take(key.kid, options.monotonicNow())) {
      throw new RateLimited('too many requests with this key', 1000);
    }
    options.admission.enter(key.kid, envelope.payload.length, () => this.#begin(authenticated));
    if (!this.#hasBegun) this.#answerLate('the request waited for others until its time was over; nothing was done');
  }

  /** In its turn; the admission is left when nothing runs for the call any more, which may be long after its answer. */
  #begin(authenticated: Authenticated): void {
    const { admission } = this.#operation.options;
    const { key, envelope } = authenticated;
    const leave = (): void => admission.leave(key.kid, envelope.payload.length);
    this.#hasBegun = true;
    clearTimeout(this.#timer);
    try {
      const result = this.#isAnswered ? '' : this.#handle(authenticated);
      if (typeof result !== 'string') {
        this.#answerLate('the request took too long; a write may still be done');
        result
          .then(
            (text) => this.#succeed(text),
            (error: unknown) => this.refuse(error),
          )
          // An answer that cannot be given ends the process. `finally` would make three promises where `then` makes one.
          .then(leave);
        return;
      }
      this.#succeed(result);
    } catch (error) {
      this.refuse(error);
    }
    leave();
  }

  #handle({ key, envelope }: Authenticated): string | Promise<string> {
    const { name, options } = this.#operation;
    const payload = parsePayload(name, parsePayloadText(envelope.payload));
    this.#payload = payload;
    checkPermission(name, payload, key);
    const sharedNonce = OPERATIONS[name].isRead ? null : (options.sharedNonces?.of(envelope) ?? null);
    return options.handlers[name](payload, {
      text: envelope.payload,
      kid: key.kid,
      allowUnfilteredWrites: key.allowUnfilteredWrites,
      deadline: this.#deadline,
      now: options.now(),
      ...(options.neighbours && { expiryNow: options.neighbours.expiryNow }),
      timing: this.#timing,
      sharedNonce,
    });
  }

  get #deadline(): number {
    return this.#startedMs + this.#operation.timeoutMs;
  }

  #answerLate(message: string): void {
    const leftMs = Math.max(0, this.#deadline - performance.now());
    this.#timer = setTimeout(() => this.refuse(new ApiError('timeout', message)), leftMs);
  }

  #succeed(result: string): void {
    if (this.#isAnswered || this.#seal === null) return;
    const timing = this.#finish();
    this.#exchange.answer(resultAnswer(this.#seal, result, timing));
    this.#account(200, '', timing);
  }

  #finish(): ServerTiming {
    this.#isAnswered = true;
    clearTimeout(this.#timer);
    const totalMs = performance.now() - this.#startedMs;
    return { totalMs, databaseMs: Math.min(this.#timing.databaseMs, totalMs) };
  }

  #account(status: number, code: string, { totalMs: ms, databaseMs }: ServerTiming): void {
    const { name: operation, options } = this.#operation;
    const kid = this.#authenticated?.key.kid ?? '';
    const { client } = this.#exchange;
    options.onAnswered({ operation, kid, client, payload: this.#payload, status, code, ms, databaseMs });
  }
}

/**
 * Before anything is looked up, so that a key learns nothing of what it may not see. A batch needs the permissions of its
 * operations too.
 *
 * @throws ApiError `forbidden`
 */
function checkPermission<Op extends OperationName>(operation: Op, payload: PayloadOf<Op>, key: ApiKey): void {
  if (!key.mayUseOperation(operation)) throw new ApiError('forbidden', `the key may not use ${operation}`);
  const { namespace, operations } = payload as { namespace?: string; operations?: readonly BatchMember[] };
  operations?.forEach(({ op }, index) => {
    if (key.mayUseOperation(op)) return;
    throw new ApiError('forbidden', `operations[${index}]: the key may not use ${op}`, { index });
  });
  if (namespace !== undefined && OPERATIONS[operation].namespace && !key.mayUseNamespace(namespace)) {
    throw new ApiError('forbidden', 'the key may not use this namespace');
  }
}
