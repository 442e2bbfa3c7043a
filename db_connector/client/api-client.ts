import { type Configuration, configurationsOf } from '../config/configuration.ts';
import type { DatabaseConfig } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import type { ServerTiming } from '../protocol/server-timing.ts';
import { AddressChoice } from './address-choice.ts';
import { ApiAddress } from './api-address.ts';
import type { ApiCall } from './api-call.ts';
import type { ApiClock } from './api-clock.ts';
import { messageOf } from './api-health.ts';
import type { ApiLink } from './api-link.ts';
import type { Breaker } from './breaker.ts';
import { errorResult, type Outcome, type Result } from './outcome.ts';
import { retryDelayMs } from './retry.ts';
import { SilenceWatch } from './silence-watch.ts';
import type { Timers } from './timers.ts';

export interface ApiClientOptions {
  readonly timers: Timers;
  /** In the order of the addresses of the configuration. */
  readonly links: readonly ApiLink[];
  readonly log: Say;
  /** The circuit breakers of all addresses are open: what waits ends. */
  readonly onOpen: () => void;
  /** An attempt had no usable answer. Comes before the call's end, so before another call gets its place. */
  readonly onFailure: () => void;
}

/**
 * Calls under one configuration: attempts, retries, addresses with a circuit breaker and a clock each (contract section 8).
 * A `db-reload` makes a new one; calls under way end under the one that they began with.
 */
export class ApiClient {
  readonly config: DatabaseConfig;
  /** The nearest first. */
  readonly addresses: readonly ApiAddress[];
  readonly #choice: AddressChoice;
  /** Null with a single address: there is no other to go to. */
  readonly #watch: SilenceWatch | null;
  readonly #options: ApiClientOptions;
  /** Ends the pause of a call between attempts. */
  readonly #pauses = new Set<() => void>();
  #running = 0;
  /** Set once another client has taken over. */
  #onIdle: (() => void) | null = null;
  #isStopped = false;

  constructor(configuration: Configuration, options: ApiClientOptions) {
    this.#options = options;
    this.config = configuration.config;
    const { timers, links, log } = options;
    const isOne = links.length === 1;
    this.addresses = configurationsOf(configuration).map((one, place) => {
      const named: Say = (line, tone) => log(isOne ? line : `${one.config.target.url}: ${line}`, tone);
      return new ApiAddress(one, {
        timers,
        link: links[place] as ApiLink,
        log: named,
        onOpen: (address) => this.#onOpen(address),
        track: (work) => this.#track(work),
      });
    });
    const choice = new AddressChoice(this.addresses, { timers, log });
    this.#choice = choice;
    const onLeft = (address: ApiAddress, call: ApiCall) => this.#onLeft(address, call);
    this.#watch = isOne ? null : new SilenceWatch({ timers, choice, onLeft });
  }

  /** Address that calls go to now. */
  get address(): ApiAddress {
    return this.#choice.current;
  }

  /** Circuit breaker of that address. */
  get breaker(): Breaker {
    return this.#choice.current.breaker;
  }

  /** Clock of that address. */
  get clock(): ApiClock {
    return this.#choice.current.clock;
  }

  /** Asks each address of several for its health, beside the calls. Resolves at the end, whatever they answer. */
  askAll(): Promise<void> {
    return this.#choice.askAll();
  }

  /** Lets a call in. */
  admit(): boolean {
    return this.#choice.admit();
  }

  /** Resolves once the clocks are set: by readings that do not include the start of a worker. */
  async start(): Promise<void> {
    await Promise.all(this.addresses.map(({ link }) => link.ready).filter((ready) => ready !== null));
    if (!this.#isStopped && this.#onIdle === null) await Promise.all(this.addresses.map((address) => address.start()));
    if (!this.#isStopped && this.#onIdle === null) await this.#choice.start();
  }

  /** Ends the call with `settle`, or with `fault`. */
  call(call: ApiCall): void {
    this.#running += 1;
    call.client = this;
    const { isAllowed, notAllowed } = this.#choice.current;
    if (isAllowed) this.#attempt(call);
    else this.#end(call, errorResult('network', notAllowed));
  }

  /** Ends calls whose answers wait in another thread. */
  collect(): void {
    for (const { link } of this.addresses) link.collect();
  }

  /** For `ApiCall` alone. */
  attemptEnded(call: ApiCall, outcome: Outcome, stalledMs: number, told: ServerTiming | null): void {
    call.trace.attempt(this.#options.timers.elapsed() - call.attemptedAt, stalledMs, told);
    if (outcome.transport === 'failure') this.#options.onFailure();
    this.#watch?.end(call);
    call.address?.breaker.count(call.period, outcome.transport);
    if (outcome.next === 'nothing') this.#end(call, outcome.result);
    else void this.#tryAgain(call, outcome);
  }

  /** For `ApiCall` alone. A fault of our own counts as nothing, so that it does not leave the circuit waiting for its trial. */
  attemptFailed(call: ApiCall, error: unknown): void {
    this.#watch?.end(call);
    call.address?.breaker.count(call.period, 'nothing');
    this.#fault(call, error);
  }

  /** Another client takes the new calls. Resolves when the calls under way have ended. */
  retire(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#stopTimers();
      this.#disposeWhenIdle();
    });
  }

  /** Ends everything at once. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopTimers();
    this.#endPauses();
    await this.#dispose();
  }

  #stopTimers(): void {
    this.#choice.stop();
    this.#watch?.stop();
    for (const address of this.addresses) address.stop();
  }

  async #dispose(): Promise<void> {
    for (const { breaker } of this.addresses) breaker.shutdown();
    await Promise.all(this.addresses.map(({ link }) => link.destroy()));
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
    const { current } = this.#choice;
    call.address = current;
    call.period = current.breaker.period;
    call.attemptedAt = this.#options.timers.elapsed();
    this.#watch?.begin(call);
    current.attempt(call);
  }

  async #tryAgain(call: ApiCall, outcome: Outcome): Promise<void> {
    this.#judgeAddress(call, outcome);
    const isReady = this.#mayHop(call, outcome) || (await this.#isReadyForAnother(outcome, call));
    if (isReady && this.#mayGoOn(call)) this.#attempt(call);
    else this.#end(call, outcome.result);
  }

  /** A call that may not be repeated says less about its address: its own fault may be the reason. */
  #judgeAddress({ address, isRepeatable }: ApiCall, { next, transport, result }: Outcome): void {
    if (address === null) return;
    const isFailure = next === 'again' && transport === 'failure';
    if (isFailure || (next === 'elsewhere' && isRepeatable)) this.#choice.leave(address, messageOf(result));
    else if (next === 'elsewhere') void this.#choice.doubt(address);
  }

  /** Whether the next attempt follows at once at another address. */
  #mayHop(call: ApiCall, { next, transport }: Outcome): boolean {
    const isForAnother = next === 'elsewhere' || (next === 'again' && transport === 'failure');
    if (!isForAnother || !this.#hasNextFor(call)) return false;
    call.hops += 1;
    return true;
  }

  /** Each address is tried once so. */
  #hasNextFor({ isRepeatable, address, hops }: ApiCall): boolean {
    const { current } = this.#choice;
    return isRepeatable && current !== address && hops + 1 < this.addresses.length;
  }

  /** A call that is not repeated waits on for its answer, and lets another begin: those go where they are answered. */
  #onLeft(address: ApiAddress, call: ApiCall): void {
    const { current } = this.#choice;
    if (current.trouble === null && !call.isRepeatable) call.leavePlace();
    if (current.breaker.state === 'closed' && this.#hasNextFor(call)) address.link.abandon(call);
  }

  async #isReadyForAnother(outcome: Outcome, call: ApiCall): Promise<boolean> {
    if (outcome.next === 'setClock' && !call.hasSetClock) {
      // A refused signature wrote nothing, so this holds for every operation.
      call.hasSetClock = true;
      await call.address?.clock.sync(true);
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

  #disposeWhenIdle(): void {
    if (this.#onIdle !== null && this.#running === 0 && !this.#isStopped) {
      void this.#dispose();
      this.#onIdle();
    }
  }

  #mayGoOn({ address, period }: ApiCall): boolean {
    const { current } = this.#choice;
    const hasOpened = current === address && current.breaker.period !== period;
    return !this.#isStopped && current.breaker.state === 'closed' && !hasOpened;
  }

  /** False if no circuit is closed any more, or the connector stopped, before the time was over. */
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

  #onOpen(address: ApiAddress): void {
    this.#choice.leave(address, address.breaker.refusal);
    if (this.#choice.hasClosedCircuit) return;
    this.#endPauses();
    this.#options.onOpen();
  }
}
