import type { Configuration } from '../config/configuration.ts';
import { type DatabaseConfig, isHostAllowed } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import { parseServerTiming, type ServerTiming } from '../protocol/server-timing.ts';
import { signRequest } from '../protocol/signing.ts';
import { ApiClock } from './api-clock.ts';
import type { ApiRequest } from './api-request.ts';
import { probeSeconds, type SignedTime, signedTimeOf, TIME_REQUEST } from './api-time.ts';
import { Breaker } from './breaker.ts';
import type { CallTrace } from './call-trace.ts';
import type { ExchangeResult } from './exchange.ts';
import { judge } from './judge.ts';
import { errorResult, type Outcome, type Result } from './outcome.ts';
import { randomId } from './random-id.ts';
import { retryDelayMs } from './retry.ts';
import type { Timers } from './timers.ts';
import type { Transport } from './transport.ts';

export interface ApiClientOptions {
  readonly timers: Timers;
  readonly transport: Transport;
  readonly log: Say;
  /** The circuit breaker has opened: what waits ends. */
  readonly onOpen: () => void;
  /** An attempt had no usable answer. Comes before the call's end, so before another call gets its place. */
  readonly onFailure: () => void;
}

/** How far a call has come. */
interface Progress {
  /** Period of the circuit breaker when the call began. */
  readonly period: number;
  retries: number;
  hasSetClock: boolean;
}

/**
 * Calls under one configuration: signing, attempts, retries, circuit breaker and clock (contract section 8).
 * A `db-reload` makes a new one; calls under way end under the one that they began with.
 */
export class ApiClient {
  readonly config: DatabaseConfig;
  readonly breaker: Breaker;
  readonly clock: ApiClock;
  readonly #configuration: Configuration;
  readonly #options: ApiClientOptions;
  /** Ends the pause of a call between attempts. */
  readonly #pauses = new Set<() => void>();
  #running = 0;
  /** Set once another client has taken over. */
  #onIdle: (() => void) | null = null;
  #isStopped = false;

  constructor(configuration: Configuration, options: ApiClientOptions) {
    this.#configuration = configuration;
    this.#options = options;
    this.config = configuration.config;
    const { timers, transport, log } = options;
    this.breaker = new Breaker(timers, () => this.#onOpen());
    this.clock = new ApiClock({
      timers,
      log,
      probe: () => probeSeconds(this.config, transport),
      ask: (seconds) => this.#track(this.#askTime(seconds)),
    });
  }

  /** Never rejects but for a fault of its own. `trace` hears of each attempt. */
  call(request: ApiRequest, trace: CallTrace | null = null): Promise<Result> {
    return this.#track(this.#attempts(request, trace));
  }

  /** A single attempt that nothing counts, for `db-health`. */
  async attemptOnce(request: ApiRequest): Promise<Result> {
    return (await this.#track(this.#attempt(request))).result;
  }

  /** The Unix seconds that the API's public probe tells. @throws Error whose message says why there is no time */
  probeSeconds(): Promise<number> {
    return this.#track(probeSeconds(this.config, this.#options.transport));
  }

  /** How calls go out now. */
  get transport(): Transport['name'] {
    return this.#options.transport.name;
  }

  /** PEM text; null: the certificates that Node.js trusts. */
  get ca(): string | null {
    return this.#configuration.ca;
  }

  /** Another client takes the new calls. Resolves when the calls under way have ended. */
  retire(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.clock.stop();
      this.#disposeWhenIdle();
    });
  }

  /** Ends everything at once. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.clock.stop();
    this.breaker.shutdown();
    this.#endPauses();
    await this.#options.transport.destroy();
  }

  /** Keeps the connection until what is under way has ended. */
  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work;
    } finally {
      this.#running -= 1;
      this.#disposeWhenIdle();
    }
  }

  async #attempts(request: ApiRequest, trace: CallTrace | null): Promise<Result> {
    if (!isHostAllowed(this.config)) {
      return errorResult('network', `the host ${this.config.target.host} is not in allowedHosts`);
    }
    const progress = { period: this.breaker.period, retries: 0, hasSetClock: false };
    for (;;) {
      const outcome = await this.#countedAttempt(request, progress, trace);
      if (!(await this.#isReadyForAnother(outcome, request, progress)) || !this.#mayGoOn(progress)) {
        return outcome.result;
      }
    }
  }

  async #isReadyForAnother(outcome: Outcome, request: ApiRequest, progress: Progress): Promise<boolean> {
    if (outcome.next === 'setClock' && !progress.hasSetClock) {
      // A refused signature wrote nothing, so this holds for every operation.
      progress.hasSetClock = true;
      await this.clock.sync(true);
      return true;
    }
    if (outcome.next !== 'again' || !request.isRepeatable) {
      return false;
    }
    const delayMs = retryDelayMs(progress.retries, outcome.retryAfterMs);
    progress.retries += 1;
    return delayMs !== null && this.#mayGoOn(progress) && this.#pause(delayMs);
  }

  /** A fault of our own counts as nothing, so that it does not leave the circuit waiting for its trial. */
  async #countedAttempt(request: ApiRequest, { period }: Progress, trace: CallTrace | null): Promise<Outcome> {
    let transport: Outcome['transport'] = 'nothing';
    try {
      const outcome = await this.#attempt(request, trace);
      transport = outcome.transport;
      return outcome;
    } finally {
      if (transport === 'failure') this.#options.onFailure();
      this.breaker.count(period, transport);
    }
  }

  /** Nothing counts it. */
  async #askTime(seconds: number): Promise<SignedTime> {
    if (!isHostAllowed(this.config)) throw new Error(`the host ${this.config.target.host} is not in allowedHosts`);
    return signedTimeOf((await this.#attempt(TIME_REQUEST, null, seconds)).result);
  }

  async #attempt(
    { path, payload, timeoutMs }: ApiRequest,
    trace: CallTrace | null = null,
    ts = this.clock.seconds(),
  ): Promise<Outcome> {
    const { config, key } = this.#configuration;
    const { timers } = this.#options;
    const begunAt = timers.elapsed();
    const nonce = randomId();
    const sig = signRequest(key, path, config.keyId, ts, nonce, payload);
    const exchange = await this.#options.transport.send({
      path,
      envelope: { v: 1, kid: config.keyId, ts, nonce, payload, sig },
      isLong: timeoutMs !== null,
      timeoutMs: Math.max(timeoutMs ?? 0, config.timeoutMs),
    });
    trace?.attempt({
      tookMs: timers.elapsed() - begunAt,
      stalledMs: exchange.stalledMs ?? 0,
      told: timingOf(exchange),
    });
    return judge(exchange, { key, nonce, now: timers.now() });
  }

  #disposeWhenIdle(): void {
    if (this.#onIdle !== null && this.#running === 0 && !this.#isStopped) {
      this.breaker.shutdown();
      void this.#options.transport.destroy();
      this.#onIdle();
    }
  }

  #mayGoOn({ period }: Progress): boolean {
    return !this.#isStopped && this.breaker.state === 'closed' && this.breaker.period === period;
  }

  /** False if the circuit opened, or the connector stopped, before the time was over. */
  #pause(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isOver: boolean) => {
        cancel();
        this.#pauses.delete(interrupt);
        resolve(isOver);
      };
      const interrupt = () => end(false);
      const cancel = this.#options.timers.after(delayMs, () => end(true));
      this.#pauses.add(interrupt);
    });
  }

  #endPauses(): void {
    for (const interrupt of [...this.#pauses]) {
      interrupt();
    }
  }

  #onOpen(): void {
    this.#endPauses();
    this.#options.onOpen();
  }
}

function timingOf(exchange: ExchangeResult): ServerTiming | null {
  if (exchange.kind === 'frame') return exchange.answer.sig === null ? null : exchange.answer;
  return exchange.kind === 'answer' && exchange.serverTiming ? parseServerTiming(exchange.serverTiming) : null;
}
