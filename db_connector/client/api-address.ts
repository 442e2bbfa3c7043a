import type { Configuration } from '../config/configuration.ts';
import { type DatabaseConfig, isHostAllowed } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import { ApiClock } from './api-clock.ts';
import { troubleOf, WELLNESS_REQUEST } from './api-health.ts';
import type { ApiLink } from './api-link.ts';
import { type SignedTime, signedTimeOf, TIME_REQUEST } from './api-time.ts';
import { type ApiRequest, type Attempt, SingleAttempt } from './attempt.ts';
import { Breaker } from './breaker.ts';
import type { Outcome, Result } from './outcome.ts';
import type { Cancel, Timers } from './timers.ts';

const PROBE_MS = 600_000;

export interface ApiAddressOptions {
  readonly timers: Timers;
  readonly link: ApiLink;
  readonly log: Say;
  readonly onOpen: (address: ApiAddress) => void;
  /** Keeps the link until this work has ended. */
  readonly track: <T>(work: Promise<T>) => Promise<T>;
}

/** An address of the API: the way there, the circuit breaker of that way, and the clock of the machine there. */
export class ApiAddress {
  /** Its `target` is this address. */
  readonly config: DatabaseConfig;
  /** PEM text; null: the certificates that Node.js trusts. */
  readonly ca: string | null;
  readonly link: ApiLink;
  readonly breaker: Breaker;
  readonly clock: ApiClock;
  readonly isAllowed: boolean;
  /** Reason why calls go to another address if there is one; null if the address is well, as far as is known. */
  trouble: string | null = null;
  /** Last answer that told its health, in the `elapsed` of the timers; null before the first. */
  askedAtMs: number | null = null;
  /** Answers that told nothing of its health, as when the game thread stood still, or the clock there is another. */
  vainAnswers = 0;
  /** First of the good answers about its health that followed each other, in the `elapsed` of the timers; null after a bad one. */
  wellSinceMs: number | null = null;
  readonly #options: ApiAddressOptions;
  #stopProbes: Cancel | null = null;

  constructor({ config, ca }: Configuration, options: ApiAddressOptions) {
    this.config = config;
    this.ca = ca;
    this.#options = options;
    this.link = options.link;
    this.isAllowed = isHostAllowed(config);
    this.breaker = new Breaker(options.timers, () => options.onOpen(this));
    const { timers, log, link } = options;
    this.clock = new ApiClock({
      timers,
      log,
      probe: () => link.probe(),
      ask: (seconds) => this.#askTime(seconds),
    });
  }

  /** Resolves once the clock is set. Asks for the id of the sidecar there, now and every ten minutes. */
  async start(): Promise<void> {
    this.#stopProbes ??= this.#options.timers.every(PROBE_MS, () => void this.#askInstance());
    await Promise.all([this.#askInstance(), this.clock.start()]);
  }

  stop(): void {
    this.clock.stop();
    this.#stopProbes?.();
    this.#stopProbes = null;
  }

  /** The link keeps the answer. A failure is the clock's to report. */
  async #askInstance(): Promise<void> {
    if (this.isAllowed) await this.#options.track(this.link.probe()).catch(() => undefined);
  }

  /** How calls go out now. */
  get transport(): ApiLink['transport'] {
    return this.link.transport;
  }

  /** Whether calls go out in a thread of their own. */
  get worker(): ApiLink['worker'] {
    return this.link.worker;
  }

  get notAllowed(): string {
    return `the host ${this.config.target.host} is not in allowedHosts`;
  }

  attempt(attempt: Attempt): void {
    this.#send(attempt, this.clock.seconds());
  }

  /** A single attempt that nothing counts, for `db-health`. */
  async attemptOnce(request: ApiRequest): Promise<Result> {
    return (await this.#single(request, this.clock.seconds())).result;
  }

  /** The Unix seconds that the API's public probe tells. @throws Error whose message says why there is no time */
  probeSeconds(): Promise<number> {
    return this.#options.track(this.link.probe());
  }

  /** Asks for the health there: null if it is good, else what is wrong; undefined if nothing follows from the answer. */
  async askHealth(): Promise<string | null | undefined> {
    return troubleOf(await this.#single(WELLNESS_REQUEST, this.clock.seconds()));
  }

  #send(attempt: Attempt, ts: number): void {
    attempt.ts = ts;
    attempt.timeoutMs = Math.max(attempt.timeoutMs, this.config.timeoutMs);
    this.link.attempt(attempt);
  }

  #single(request: ApiRequest, ts: number): Promise<Outcome> {
    const attempt = new SingleAttempt(request);
    this.#send(attempt, ts);
    return this.#options.track(attempt.outcome);
  }

  /** Nothing counts it. */
  async #askTime(seconds: number): Promise<SignedTime> {
    if (!this.isAllowed) throw new Error(this.notAllowed);
    return signedTimeOf((await this.#single(TIME_REQUEST, seconds)).result);
  }
}
