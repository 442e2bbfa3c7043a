import { ApiClient } from '../client/api-client.ts';
import type { ApiLink } from '../client/api-link.ts';
import { errorResult, type Result } from '../client/outcome.ts';
import type { Timers } from '../client/timers.ts';
import type { Configuration } from '../config/configuration.ts';
import type { CallSettings } from '../config/database-config.ts';
import type { Say } from '../config/say.ts';
import { AcceptedCall } from './accepted-call.ts';
import { type CheckedCall, checkCall, checkNamespace, Refusal } from './call-checks.ts';
import { CallQueue } from './call-queue.ts';
import { CallerBook, type CallerFigures } from './caller-book.ts';
import { OwnSidecarWait } from './own-sidecar-wait.ts';
import type { Question } from './records.ts';
import { ResultTable } from './result-table.ts';
import { SlowCalls } from './slow-calls.ts';
import { refusedTicket, type TakenResult, type Ticket } from './ticket.ts';

export interface ConnectorOptions {
  readonly timers: Timers;
  readonly log: Say;
  /** In the order of the addresses of the configuration. */
  readonly openLinks: (configuration: Configuration) => readonly ApiLink[];
}

/** A result that is not collected is kept this long, and four times the timeout. */
const RESULT_LIFETIME_MS = 120_000;

const INTERNAL = 'unexpected failure of the connector; details are in the log';

/** The two exports and what is behind them: tickets, the queue, and the client of the running configuration. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #queue: CallQueue;
  readonly #callers = new CallerBook();
  readonly #results: ResultTable;
  readonly #slowCalls: SlowCalls;
  /** Clients of earlier configurations whose calls have not all ended. */
  readonly #retired = new Set<ApiClient>();
  #client: ApiClient | null = null;
  readonly #wait: OwnSidecarWait;
  #reason = 'no configuration has been read yet';
  /** Why no new call is taken; null while they are. */
  #closing: string | null = null;

  constructor(options: ConnectorOptions) {
    this.#options = options;
    this.#queue = new CallQueue(options.timers.elapsed);
    this.#wait = new OwnSidecarWait(options.timers, this.#queue);
    this.#results = new ResultTable(options.timers);
    this.#slowCalls = new SlowCalls(options.timers, options.log);
  }

  /** Client of the running configuration; null if there is none, and `reason` says why. */
  get client(): ApiClient | null {
    return this.#client;
  }

  get reason(): string {
    return this.isHolding ? (this.#wait.over ?? 'the sidecar of this server is starting') : this.#reason;
  }

  /** Settings of current calls; undefined if there is no configuration. */
  get settings(): CallSettings | undefined {
    return this.#client?.config ?? this.#wait.settings;
  }

  /** There is a configuration, and no sidecar to call yet. */
  get isHolding(): boolean {
    return this.#wait.isHolding;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get inFlight(): number {
    return this.#queue.inFlight;
  }

  /** Callers with most calls first. */
  get callers(): readonly CallerFigures[] {
    return this.#callers.figures();
  }

  /**
   * Accepts a call or says why not; never throws.
   *
   * @param caller the bundle that asks, if the host names it; only it can collect the result
   */
  accept(asked: Omit<Question, 'reply'>, caller: string | undefined): Ticket {
    try {
      return { Id: this.#accept(this.#check(asked), caller), Accepted: true, Error: '' };
    } catch (error) {
      if (!(error instanceof Refusal)) this.#logInternal(error);
      this.#callers.refused(caller ?? null);
      return refusedTicket(error instanceof Refusal ? error.message : `internal: ${INTERNAL}`);
    }
  }

  /** Hands out a result, once. */
  take(id: string, caller: string | undefined): TakenResult {
    const taken = this.#results.take(id, caller);
    if (taken === 'pending' || taken === 'missing') return { Id: id, State: taken, Status: 0, Code: '', Json: '' };
    return { Id: id, State: taken.state, Status: taken.status, Code: taken.code, Json: taken.json };
  }

  /** Ids of at most `max` results that are ready for the caller, the oldest first. */
  ready(caller: string | undefined, max: number): string[] {
    return this.#results.ready(caller, max);
  }

  /** Export `ClockOffset`: how many milliseconds the API's clock is ahead; 0 while that is not known. */
  clockOffset(): number {
    return this.#client?.clock.offsetMs ?? 0;
  }

  /**
   * Takes a configuration over: calls under way end under the one that they began with. Resolves once the clock is set.
   *
   * @param isOwnSidecar `holdCalls` follows when that sidecar ends: its failures then say nothing about the next one
   */
  configure(configuration: Configuration, isOwnSidecar = false): Promise<void> {
    const { timers, log, openLinks } = this.#options;
    const client: ApiClient = new ApiClient(configuration, {
      timers,
      log,
      links: openLinks(configuration),
      onOpen: () => this.#onOpen(client),
      onFailure: () => isOwnSidecar && this.#onOwnFailure(client),
    });
    this.#retire();
    this.#client = client;
    this.#reason = '';
    this.#queue.setConcurrency(configuration.config.maxConcurrent);
    this.#wait.release();
    return client.start();
  }

  /**
   * Calls are taken and wait, at most 30 s, until `configure` says where they go: the sidecar that this connector runs
   * itself is not up. Nothing of that counts for the circuit breaker.
   */
  holdCalls(settings: CallSettings): void {
    this.#retire();
    this.#wait.hold(settings);
  }

  /** Ends all waiting calls, and lets none wait until `configure`. */
  giveUpHold(reason: string): void {
    this.#wait.giveUp(reason);
  }

  /** There is no configuration to work with. One that is in use stays. */
  refuseCalls(reason: string): void {
    this.#reason = reason;
  }

  /** Takes no call from now on; those that were accepted go out. */
  refuseNew(reason: string): void {
    this.#closing = reason;
  }

  /** A bundle has stopped: its results will not be collected. Its calls still go out. */
  forget(caller: string): void {
    this.#results.forget(caller);
  }

  /** Ends everything: sockets, timers, calls. Results that were not collected are dropped. */
  async stop(): Promise<void> {
    this.#wait.stop();
    const clients = [...this.#retired, ...(this.#client === null ? [] : [this.#client])];
    this.#client = null;
    this.#reason = 'the connector has stopped';
    this.#results.clear();
    this.#queue.dropWaiting();
    await Promise.all(clients.map((client) => client.stop()));
  }

  /** Calls under way end under the client that they began with. */
  #retire(): void {
    const previous = this.#client;
    this.#client = null;
    if (previous !== null) {
      this.#retired.add(previous);
      void previous.retire().then(() => this.#retired.delete(previous));
    }
  }

  #check({ texts, isTooLong, problem }: Omit<Question, 'reply'>): CheckedCall {
    if (this.settings === undefined) {
      throw new Refusal('not_configured', this.#reason);
    }
    return checkCall(texts, isTooLong, this.settings.namespaces, problem);
  }

  #accept(call: CheckedCall, caller: string | undefined): string {
    if (this.#closing !== null) {
      throw new Refusal('unavailable', this.#closing);
    }
    const refusal = this.#queue.refusalFor(caller ?? null);
    if (refusal !== null) {
      throw new Refusal('busy', refusal);
    }
    const uncollected = this.#results.refusalFor(caller);
    if (uncollected !== null) {
      throw new Refusal('busy', uncollected);
    }
    if (this.#wait.over !== null) {
      throw new Refusal('unavailable', this.#wait.over);
    }
    if (this.#client !== null && !this.#wait.isInDoubt && !this.#client.admit()) {
      throw new Refusal('unavailable', this.#client.breaker.refusal);
    }
    const accepted = new AcceptedCall(this, call, caller ?? null, this.#options.timers.elapsed(), this.isHolding);
    this.#callers.accepted(accepted.caller);
    this.#results.open(accepted.id, caller);
    this.#queue.add(accepted);
    return accepted.id;
  }

  /** For `AcceptedCall` alone. A call that waited begins under the configuration of now, which may no longer allow it. */
  begin(accepted: AcceptedCall): void {
    accepted.trace.begin(this.#options.timers.elapsed());
    const client = this.#client;
    if (client === null) {
      this.settle(accepted, errorResult('not_configured', this.#reason));
      return;
    }
    try {
      if (accepted.call.namespace !== null) checkNamespace(accepted.call.namespace, client.config.namespaces);
      client.call(accepted);
    } catch (error) {
      this.fault(accepted, error);
    }
  }

  /** For `AcceptedCall` alone. */
  leavePlace(accepted: AcceptedCall): void {
    this.#queue.ended(accepted);
  }

  /** For `AcceptedCall` alone. */
  settle(accepted: AcceptedCall, result: Result): void {
    this.#note(accepted, result);
    this.#queue.ended(accepted);
  }

  /** For `AcceptedCall` alone. */
  drop(accepted: AcceptedCall): void {
    this.#note(accepted, this.#dropped());
  }

  /** For `AcceptedCall` alone. */
  fault(accepted: AcceptedCall, error: unknown): void {
    if (error instanceof Refusal) {
      this.settle(accepted, errorResult(error.code, error.reason));
      return;
    }
    this.#logInternal(error);
    this.settle(accepted, errorResult('internal', INTERNAL));
  }

  #note({ id, call, caller, trace, wasHeld }: AcceptedCall, result: Result): void {
    const now = this.#options.timers.elapsed();
    const tookMs = trace.tookMs(now);
    const { settings } = this;
    this.#callers.ended(caller, result, tookMs);
    if (settings !== undefined) {
      this.#results.settle(id, result, RESULT_LIFETIME_MS + 4 * settings.timeoutMs, call.isRead);
      if (!wasHeld && tookMs > settings.slowCallMs) {
        this.#slowCalls.note({ call, caller, tookMs, parts: trace.parts(now) }, settings.slowCallMs);
      }
    }
  }

  #dropped(): Result {
    return errorResult('unavailable', this.#wait.over ?? this.#client?.breaker.refusal ?? this.#reason);
  }

  /** A client that a `db-reload` has replaced no longer speaks for what waits. */
  #onOpen(client: ApiClient): void {
    if (client === this.#client && !this.#wait.isInDoubt) {
      this.#options.log(
        `no usable answer from ${client.config.targets.map(({ url }) => url).join(' and ')}: ${client.breaker.refusal}; db-health tells why`,
        'bad',
      );
      this.#queue.dropWaiting();
    }
  }

  #onOwnFailure(client: ApiClient): void {
    if (client !== this.#client) return;
    this.#wait.doubt(() => client.breaker.state === 'open' && this.#onOpen(client));
  }

  #logInternal(error: unknown): void {
    this.#options.log(`internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, 'bad');
  }
}
