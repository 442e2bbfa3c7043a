import type { Configuration } from '../config/configuration.ts';
import { type DatabaseConfig, isHostAllowed } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import type { ServerTiming } from '../protocol/server-timing.ts';
import type { ApiCall } from './api-call.ts';
import { ApiClock } from './api-clock.ts';
import type { ApiLink } from './api-link.ts';
import { type SignedTime, signedTimeOf, TIME_REQUEST } from './api-time.ts';
import { type ApiRequest, type Attempt, SingleAttempt } from './attempt.ts';
import { Breaker } from './breaker.ts';
import { errorResult, type Outcome, type Result } from './outcome.ts';
import { retryDelayMs } from './retry.ts';
import type { Timers } from './timers.ts';

export interface ApiClientOptions {
  readonly timers: Timers;
  readonly link: ApiLink;
  readonly log: Say;
  /** The circuit breaker has opened: what waits ends. */
  readonly onOpen: () => void;
  /** An attempt had no usable answer. Comes before the call's end, so before another call gets its place. */
  readonly onFailure: () => void;
}

/**
 * Calls under one configuration: attempts, retries, circuit breaker and clock (contract section 8).
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
  readonly #isAllowed: boolean;
  #running = 0;
  /** Set once another client has taken over. */
  #onIdle: (() => void) | null = null;
  #isStopped = false;

  constructor(configuration: Configuration, options: ApiClientOptions) {
    this.#configuration = configuration;
    this.#options = options;
    this.config = configuration.config;
    this.#isAllowed = isHostAllowed(configuration.config);
    const { timers, link, log } = options;
    this.breaker = new Breaker(timers, () => this.#onOpen());
    this.clock = new ApiClock({
      timers,
      log,
      probe: () => link.probe(),
      ask: (seconds) => this.#askTime(seconds),
    });
  }

  /** Resolves once the clock is set: by readings that do not include the start of a worker. */
  async start(): Promise<void> {
    if (this.#options.link.ready !== null) await this.#options.link.ready;
    if (!this.#isStopped && this.#onIdle === null) await this.clock.start();
  }

  /** Ends the call with `settle`, or with `fault`. */
  call(call: ApiCall): void {
    this.#running += 1;
    call.client = this;
    call.period = this.breaker.period;
    if (this.#isAllowed) this.#attempt(call);
    else this.#end(call, errorResult('network', this.#notAllowed));
  }

  /** For `ApiCall` alone. */
  attemptEnded(call: ApiCall, outcome: Outcome, stalledMs: number, told: ServerTiming | null): void {
    call.trace.attempt(this.#options.timers.elapsed() - call.attemptedAt, stalledMs, told);
    if (outcome.transport === 'failure') this.#options.onFailure();
    this.breaker.count(call.period, outcome.transport);
    if (outcome.next === 'nothing') this.#end(call, outcome.result);
    else void this.#tryAgain(call, outcome);
  }

  /** For `ApiCall` alone. A fault of our own counts as nothing, so that it does not leave the circuit waiting for its trial. */
  attemptFailed(call: ApiCall, error: unknown): void {
    this.breaker.count(call.period, 'nothing');
    this.#fault(call, error);
  }

  /** A single attempt that nothing counts, for `db-health`. */
  async attemptOnce(request: ApiRequest): Promise<Result> {
    return (await this.#single(request, this.clock.seconds())).result;
  }

  /** The Unix seconds that the API's public probe tells. @throws Error whose message says why there is no time */
  probeSeconds(): Promise<number> {
    return this.#track(this.#options.link.probe());
  }

  /** How calls go out now. */
  get transport(): ApiLink['transport'] {
    return this.#options.link.transport;
  }

  /** Whether calls go out in a thread of their own. */
  get worker(): ApiLink['worker'] {
    return this.#options.link.worker;
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
    await this.#options.link.destroy();
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

  #attempt(call: ApiCall): void {
    call.attemptedAt = this.#options.timers.elapsed();
    this.#send(call, this.clock.seconds());
  }

  #send(attempt: Attempt, ts: number): void {
    attempt.ts = ts;
    attempt.timeoutMs = Math.max(attempt.timeoutMs, this.config.timeoutMs);
    this.#options.link.attempt(attempt);
  }

  async #tryAgain(call: ApiCall, outcome: Outcome): Promise<void> {
    if ((await this.#isReadyForAnother(outcome, call)) && this.#mayGoOn(call)) this.#attempt(call);
    else this.#end(call, outcome.result);
  }

  async #isReadyForAnother(outcome: Outcome, call: ApiCall): Promise<boolean> {
    if (outcome.next === 'setClock' && !call.hasSetClock) {
      // A refused signature wrote nothing, so this holds for every operation.
      call.hasSetClock = true;
      await this.clock.sync(true);
      return true;
    }
    if (outcome.next !== 'again' || !call.isRepeatable) {
      return false;
    }
    const delayMs = retryDelayMs(call.retries, outcome.retryAfterMs);
    call.retries += 1;
    return delayMs !== null && this.#mayGoOn(call) && this.#pause(delayMs);
  }

  #end(call: ApiCall, result: Result): void {
    this.#running -= 1;
    call.settle(result);
    this.#disposeWhenIdle();
  }

  #fault(call: ApiCall, error: unknown): void {
    this.#running -= 1;
    call.fault(error);
    this.#disposeWhenIdle();
  }

  /** Nothing counts it. */
  async #askTime(seconds: number): Promise<SignedTime> {
    if (!this.#isAllowed) throw new Error(this.#notAllowed);
    return signedTimeOf((await this.#single(TIME_REQUEST, seconds)).result);
  }

  #single(request: ApiRequest, ts: number): Promise<Outcome> {
    const attempt = new SingleAttempt(request);
    this.#send(attempt, ts);
    return this.#track(attempt.outcome);
  }

  get #notAllowed(): string {
    return `the host ${this.config.target.host} is not in allowedHosts`;
  }

  #disposeWhenIdle(): void {
    if (this.#onIdle !== null && this.#running === 0 && !this.#isStopped) {
      this.breaker.shutdown();
      void this.#options.link.destroy();
      this.#onIdle();
    }
  }

  #mayGoOn({ period }: ApiCall): boolean {
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
