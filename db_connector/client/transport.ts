import { type Dispatcher, Pool } from 'undici';
import type { Configuration } from '../config/configuration.ts';
import { writeRequestEnvelope } from '../protocol/envelope.ts';
import type { Attempt } from './attempt.ts';
import { Deadlines } from './deadlines.ts';
import { Exchange, type ExchangeEnd } from './exchange.ts';
import type { Timers } from './timers.ts';

/** Beside the calls, a probe of the clock and a `db-health` may be under way. */
const EXTRA_CONNECTIONS = 2;

/** Exchanges with the API, each by itself; follows nothing, repeats nothing. */
export interface Transport {
  /** How calls go out now. */
  readonly name: 'stream' | 'post';
  /** Sends a signed attempt, by POST or stream, and ends it with `exchanged`, or with `broke`. Its time is doubled to connect. */
  send(attempt: Attempt): void;
  /** Whether calls go to this address. One that is not chosen ends its stream once that is idle, and uses POST. */
  setChosen(isChosen: boolean): void;
  /** An unsigned GET. Never rejects. */
  get(path: string, timeoutMs: number): Promise<ExchangeEnd>;
  /** Ends everything at once, sockets included. */
  destroy(): Promise<void>;
}

/** Both are for the transport that decides about streams. */
export interface PostEvents {
  /** The end of each POST, before its attempt hears of it. */
  readonly onPosted?: (end: ExchangeEnd) => void;
  /** A new connection to the API, which may be another one than before. */
  readonly onConnected?: () => void;
}

const HEADERS = ['content-type', 'application/json'];

/** HTTP/1.1 with kept connections, over TCP, TLS or a Unix socket. */
export class UndiciTransport implements Transport {
  readonly name = 'post';
  readonly #pool: Pool;
  readonly #deadlines: Deadlines;
  readonly #timers: Timers;
  readonly #maxAnswerBytes: number;
  readonly #onPosted: (end: ExchangeEnd) => void;

  constructor({ config, ca }: Configuration, timers: Timers, { onPosted, onConnected }: PostEvents = {}) {
    this.#timers = timers;
    this.#onPosted = onPosted ?? (() => {});
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
    if (onConnected !== undefined) this.#pool.on('connect', onConnected);
  }

  send(attempt: Attempt): void {
    const { path, kid, ts, nonce, payload, sig, timeoutMs } = attempt;
    const body = writeRequestEnvelope({ v: 1, kid, ts, nonce, payload, sig });
    const options: Dispatcher.DispatchOptions = { method: 'POST', path, body, headers: HEADERS };
    const exchange = this.#prepare(timeoutMs, (end, stalledMs) => {
      attempt.carriedBy = null;
      this.#onPosted(end);
      attempt.exchanged(end, stalledMs);
    });
    attempt.carriedBy = exchange;
    this.#pool.dispatch(options, exchange);
  }

  setChosen(): void {
    // Kept connections hold nothing at the API.
  }

  get(path: string, timeoutMs: number): Promise<ExchangeEnd> {
    return new Promise((resolve) => {
      this.#pool.dispatch({ method: 'GET', path }, this.#prepare(timeoutMs, resolve));
    });
  }

  #prepare(timeoutMs: number, onEnd: (end: ExchangeEnd, stalledMs: number) => void): Exchange {
    const [begunAt, stalledMs] = [this.#timers.elapsed(), this.#deadlines.stalledMs];
    const exchange: Exchange = new Exchange({
      timeoutMs,
      maxAnswerBytes: this.#maxAnswerBytes,
      elapsed: this.#timers.elapsed,
      onEnd: (end) => {
        this.#deadlines.forget(exchange);
        onEnd(end, this.#deadlines.stalledSince(begunAt, stalledMs));
      },
    });
    this.#deadlines.watch(exchange);
    return exchange;
  }

  async destroy(): Promise<void> {
    this.#deadlines.close();
    await this.#pool.destroy();
  }
}
