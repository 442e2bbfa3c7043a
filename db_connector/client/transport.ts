import { type Dispatcher, Pool } from 'undici';
import type { Configuration } from '../config/configuration.ts';
import { type RequestEnvelope, writeRequestEnvelope } from '../protocol/envelope.ts';
import { Deadlines } from './deadlines.ts';
import { Exchange, type ExchangeResult } from './exchange.ts';
import type { Timers } from './timers.ts';

/** Beside the calls, a probe of the clock and a `db-health` may be under way. */
const EXTRA_CONNECTIONS = 2;

export interface HttpRequest {
  readonly path: string;
  /** A signed call, by POST or stream; null: GET. */
  readonly envelope: RequestEnvelope | null;
  /** The operation may take longer than `timeoutMs` of the configuration. */
  readonly isLong: boolean;
  /** From the first byte sent to the last received; as long again to connect. */
  readonly timeoutMs: number;
}

/** HTTP exchanges, each by itself; never throws, follows nothing, repeats nothing. */
export interface Transport {
  /** How calls go out now. */
  readonly name: 'stream' | 'post';
  send(request: HttpRequest): Promise<ExchangeResult>;
  /** Ends everything at once, sockets included. */
  destroy(): Promise<void>;
}

const HEADERS = ['content-type', 'application/json'];

/** HTTP/1.1 with kept connections, over TCP, TLS or a Unix socket. */
export class UndiciTransport implements Transport {
  readonly name = 'post';
  readonly #pool: Pool;
  readonly #deadlines: Deadlines;
  readonly #timers: Timers;
  readonly #maxAnswerBytes: number;

  constructor({ config, ca }: Configuration, timers: Timers) {
    this.#timers = timers;
    this.#deadlines = new Deadlines(timers);
    this.#maxAnswerBytes = config.maxAnswerBytes;
    this.#pool = new Pool(config.target.origin, {
      connections: config.maxConcurrent + EXTRA_CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        allowH2: false,
        timeout: config.timeoutMs,
        ...(config.target.socketPath === null ? {} : { socketPath: config.target.socketPath }),
        ...(ca === null ? {} : { ca }),
      },
    });
  }

  send(request: HttpRequest): Promise<ExchangeResult> {
    return new Promise((resolve) => {
      const begun = this.#deadlines.mark();
      const exchange = new Exchange({
        timeoutMs: request.timeoutMs,
        maxAnswerBytes: this.#maxAnswerBytes,
        elapsed: this.#timers.elapsed,
        onEnd: (end) => {
          const stalledMs = this.#deadlines.stalledSince(begun);
          this.#deadlines.forget(exchange);
          resolve({ ...end, stalledMs });
        },
      });
      this.#deadlines.watch(exchange);
      this.#pool.dispatch(this.#optionsOf(request), exchange);
    });
  }

  async destroy(): Promise<void> {
    this.#deadlines.close();
    await this.#pool.destroy();
  }

  #optionsOf({ path, envelope }: HttpRequest): Dispatcher.DispatchOptions {
    if (envelope === null) return { method: 'GET', path };
    return { method: 'POST', path, body: writeRequestEnvelope(envelope), headers: HEADERS };
  }
}
