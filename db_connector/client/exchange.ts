import type { Dispatcher } from 'undici';
import type { ReceivedAnswer } from '../protocol/stream-frames.ts';
import type { Deadlines, Watched } from './deadlines.ts';
import { GrowingBody } from './growing-body.ts';

/** How the attempt of a call ended, over HTTP or a stream. */
export type ExchangeEnd =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfter: string | null;
      /** As it came; not signed. */
      readonly serverTiming?: string | null;
      readonly body: Buffer;
    }
  /** Answer of a stream. */
  | { readonly kind: 'frame'; readonly answer: ReceivedAnswer }
  | { readonly kind: 'tooLong' }
  /** `hasStalled`: the game thread stood still when the time was up. */
  | { readonly kind: 'noAnswer'; readonly reason: string; readonly hasStalled: boolean };

/** End of an attempt that was given up while it was under way. */
export const ABANDONED = {
  kind: 'noAnswer',
  reason: 'no answer, nor one to a question for its health',
  hasStalled: false,
} as const satisfies ExchangeEnd;

export interface ExchangeOptions {
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly elapsed: () => number;
  /** Called exactly once. */
  readonly onEnd: (end: ExchangeEnd) => void;
}

type Headers = Record<string, string | string[] | undefined>;

/** A request and its answer, as undici reports them. */
export class Exchange implements Dispatcher.DispatchHandler, Watched {
  dueAt: number;
  received = 0;
  watchedBy: Deadlines | null = null;
  readonly #options: ExchangeOptions;
  readonly #body = new GrowingBody();
  #status = 0;
  #retryAfter: string | null = null;
  #serverTiming: string | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #hasEnded = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.dueAt = options.elapsed() + options.timeoutMs;
  }

  /** The connection stands and the first byte goes out: from now on the time counts. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.dueAt = this.#options.elapsed() + this.#options.timeoutMs;
    if (this.#hasEnded) {
      controller.abort(new Error('no longer wanted'));
    }
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) {
      return;
    }
    this.#status = status;
    this.#retryAfter = textOf(headers['retry-after']);
    this.#serverTiming = textOf(headers['server-timing']);
    const announced = Number(headers['content-length'] ?? 0);
    if (announced > this.#options.maxAnswerBytes) this.#end({ kind: 'tooLong' });
    else this.#body.expect(announced);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.received += chunk.length;
    if (this.received > this.#options.maxAnswerBytes) {
      this.#end({ kind: 'tooLong' });
    } else {
      this.#body.add(chunk);
    }
  }

  onResponseEnd(): void {
    this.#finish({
      kind: 'answer',
      status: this.#status,
      retryAfter: this.#retryAfter,
      serverTiming: this.#serverTiming,
      body: this.#body.bytes,
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#finish({ kind: 'noAnswer', reason: reasonOf(error), hasStalled: false });
  }

  expire(hasStalled: boolean): void {
    this.#end({ kind: 'noAnswer', reason: `no answer within ${this.#options.timeoutMs} ms`, hasStalled });
  }

  /** As the carrier of an attempt. */
  expired(_attempt: unknown, hasStalled: boolean): void {
    this.expire(hasStalled);
  }

  abandon(): void {
    this.#end(ABANDONED);
  }

  /** Ends before the other side did, so the connection is of no further use. */
  #end(end: ExchangeEnd): void {
    this.#finish(end);
    this.#controller?.abort(new Error('no longer wanted'));
  }

  #finish(end: ExchangeEnd): void {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.#options.onEnd(end);
    }
  }
}

function textOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' ? header : null;
}

/** Code of Node's permission model. GTA V Enhanced asks it for the permission `net`; Node's own message names a flag of its program. */
export const ACCESS_DENIED = 'ERR_ACCESS_DENIED';
export const NETWORK_DENIED = `the game server lets this script open no network connections (${ACCESS_DENIED})`;

function reasonOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === ACCESS_DENIED) return NETWORK_DENIED;
  // OpenSSL's own message is a record of its sources, with a line feed at its end.
  if ('reason' in error && code.startsWith('ERR_SSL_')) return `${String(error.reason)} (${code})`;
  return error.message === '' ? code || error.name : error.message;
}
